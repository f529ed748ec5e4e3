"""Figures behind the page "Which method for my problem?"."""
