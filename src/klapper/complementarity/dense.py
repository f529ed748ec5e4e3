"""A matrix with all its entries, where a method needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse


def dense(matrix: Any) -> np.ndarray:
    """A dense, sparse or operator matrix as an array of floating-point numbers."""
    if not isinstance(matrix, np.ndarray) and not sparse.issparse(matrix):
        from scipy.sparse.linalg import LinearOperator

        if isinstance(matrix, LinearOperator):
            return np.asarray(matrix @ np.eye(matrix.shape[1]))
    full = matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    return full if full.dtype.kind in "fc" else full.astype(float)
