"""What happens between a full basket and a paid order."""

FREE_SHIPPING_FROM = 4_900  # in cents
SHIPPING = 490


def shipping(subtotal: int) -> int:
    """Return what delivery costs for a basket worth `subtotal` cents."""
    return 0 if subtotal >= FREE_SHIPPING_FROM else SHIPPING


def total(prices: list[int], *, discount: int = 0) -> int:
    """Return what the customer pays, in cents; a discount never makes shipping dearer."""
    subtotal = sum(prices)
    return max(0, subtotal - discount) + shipping(subtotal)
