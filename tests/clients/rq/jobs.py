"""What the RQ worker runs."""


def double(number):
    return number * 2


def broken():
    raise ValueError("as asked")
