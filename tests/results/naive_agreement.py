"""Slow, obvious twins of the agreement measures, written from their definitions."""

from __future__ import annotations

import math


def best_first(scores):
    return sorted(range(len(scores)), key=lambda i: (-scores[i], i))


def kendall_tau(a, b):
    concordant = discordant = untied_a = untied_b = 0
    for i in range(len(a)):
        for j in range(i):
            left = (a[i] > a[j]) - (a[i] < a[j])
            right = (b[i] > b[j]) - (b[i] < b[j])
            concordant += left * right > 0
            discordant += left * right < 0
            untied_a += left != 0
            untied_b += right != 0
    if untied_a == 0 or untied_b == 0:
        return 0.0
    return (concordant - discordant) / math.sqrt(untied_a * untied_b)


def overlap_curve(a, b):
    curve = []
    for k in range(1, len(a) + 1):
        curve.append(len(set(best_first(a)[:k]) & set(best_first(b)[:k])) / k)
    return curve


def fuji_curve(a, b):
    a_plus, b_plus = [max(s, 0.0) for s in a], [max(s, 0.0) for s in b]
    curve = []
    for i in range(1, len(a) + 1):
        union = set(best_first(a)[:i]) | set(best_first(b)[:i])
        total = 0.0
        for feature in union:
            memberships = []
            for scores in (a_plus, b_plus):
                threshold = sorted(scores, reverse=True)[i - 1]
                reaches = scores[feature] >= threshold
                memberships.append(1.0 if reaches else scores[feature] / threshold)
            total += min(memberships)
        curve.append(total / len(union))
    return curve
