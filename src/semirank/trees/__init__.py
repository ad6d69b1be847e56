"""Semi-supervised predictive clustering trees and their ensembles."""
