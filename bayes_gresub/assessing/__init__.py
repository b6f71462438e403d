"""One answer: what cheap numbers on the training data tell about the error of a trained classifier."""
