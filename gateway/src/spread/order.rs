//! An order: how many workers serve, and which connections a worker gives to others because of it.
//!
//! Workers serve from the first one on, so their number says which. An order moves nothing by itself. Under a new order a
//! worker looks at each connection once, when it has next served it, and then keeps it or gives it away: so only
//! connections that are in use move, a few at a time, and each of them at most once for an order.

/// See the module. All of it is in one number, which workers read in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Tells two orders apart that say the same; it wraps around.
    number: u16,
    serving: u16,
    /// The worker that gives half of its connections to `taker`; itself if none does.
    giver: u16,
    taker: u16,
}

impl Order {
    /// The first order of a server.
    pub fn first(serving: u16) -> Order {
        Order { number: 1, serving: serving.max(1), giver: 0, taker: 0 }
    }

    /// The next order: so many workers serve.
    pub fn serve(self, serving: u16) -> Order {
        Order { number: self.number.wrapping_add(1), serving: serving.max(1), giver: 0, taker: 0 }
    }

    /// The next order: as many workers serve, and one of them gives half of its connections to another one.
    pub fn give(self, giver: u16, taker: u16) -> Order {
        Order { number: self.number.wrapping_add(1), giver, taker, ..self }
    }

    /// How many workers serve, at least one.
    pub fn serving(self) -> u16 {
        self.serving
    }

    /// The order as a number, for an atomic. An order is never 0.
    pub fn to_bits(self) -> u64 {
        let [number, serving, giver, taker] =
            [self.number, self.serving, self.giver, self.taker].map(u64::from);
        number << 48 | serving << 32 | giver << 16 | taker
    }

    /// The order of [`Order::to_bits`].
    pub fn from_bits(bits: u64) -> Order {
        let [number_high, number, serving_high, serving, giver_high, giver, taker_high, taker] =
            bits.to_be_bytes();
        let two = |high, low| u16::from_be_bytes([high, low]);
        Order {
            number: two(number_high, number),
            serving: two(serving_high, serving),
            giver: two(giver_high, giver),
            taker: two(taker_high, taker),
        }
    }
}

/// A worker under the present order.
#[derive(Debug)]
pub struct Part {
    /// The number of the worker.
    me: u16,
    order: Order,
    /// How many workers served before the order.
    served: u16,
    /// How many connections it has looked at under the order.
    turn: u64,
}

impl Part {
    /// The part of a worker that has not looked yet.
    pub fn new(me: u16, order: Order) -> Part {
        Part { me, order, served: order.serving, turn: 0 }
    }

    /// Takes note of the present order, a number of [`Order::to_bits`].
    #[inline]
    pub fn follow(&mut self, bits: u64) {
        if bits != self.order.to_bits() {
            let order = Order::from_bits(bits);
            *self = Part { me: self.me, order, served: self.order.serving, turn: 0 };
        }
    }

    /// What a connection that comes to this worker has as `seen`: one that comes to stay is not looked at under this order.
    pub fn newcomer(&self) -> Seen {
        if self.me < self.order.serving { Seen(self.order.to_bits()) } else { Seen(0) }
    }

    /// Whether it has not looked at a connection yet under this order.
    #[inline]
    pub fn has_to_look_at(&self, seen: Seen) -> bool {
        seen.0 != self.order.to_bits()
    }

    /// Looks at a connection that is being served: the worker to which it is to be given, or None if it stays.
    pub fn destination(&mut self, seen: &mut Seen) -> Option<u16> {
        seen.0 = self.order.to_bits();
        let turn = self.turn;
        self.turn += 1;
        let Order { serving, giver, taker, .. } = self.order;
        // The remainder is less than `serving`, which is a u16.
        let place = u16::try_from(turn % u64::from(serving)).unwrap_or_default();
        if self.me >= serving {
            Some(place)
        } else if giver != taker {
            // The first stays, so that a connection that fills a worker alone does not go to and fro.
            (giver == self.me && turn % 2 == 1).then_some(taker)
        } else {
            // Where workers have joined, the places behind those that served before are theirs.
            (place >= self.served && self.me < self.served).then_some(place)
        }
    }
}

/// The order under which a connection was last looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen(u64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Where eight connections of a worker go.
    fn given(me: u16, before: Order, order: Order) -> Vec<Option<u16>> {
        let mut part = Part::new(me, before);
        part.follow(order.to_bits());
        (0..8).map(|_| part.destination(&mut Seen::default())).collect()
    }

    #[test]
    fn order_is_garbled_on_its_way() {
        for order in [Order::first(0), Order::first(7).serve(300), Order::first(9).give(8, 513)] {
            assert_eq!(Order::from_bits(order.to_bits()), order);
            assert_ne!(order.to_bits(), 0);
        }
    }

    #[test]
    fn worker_that_joins_gets_more_or_less_than_its_share() {
        let (one, two) = (Order::first(1), Order::first(1).serve(2));
        assert_eq!(given(0, one, two), [None, Some(1), None, Some(1), None, Some(1), None, Some(1)]);
        let four = two.serve(4);
        for me in 0..2 {
            let [a, b] = [Some(2), Some(3)];
            assert_eq!(given(me, two, four), [None, None, a, b, None, None, a, b]);
        }
        // A worker that joined has nothing to give.
        assert_eq!(given(3, two, four), [None; 8]);
    }

    #[test]
    fn worker_that_leaves_keeps_connections() {
        let (three, two) = (Order::first(3), Order::first(3).serve(2));
        let [a, b] = [Some(0), Some(1)];
        assert_eq!(given(2, three, two), [a, b, a, b, a, b, a, b]);
        assert_eq!(given(1, three, two), [None; 8]);
        assert_eq!(Part::new(2, two).newcomer(), Seen(0));
        assert_ne!(Part::new(1, two).newcomer(), Seen(0));
    }

    #[test]
    fn busy_connection_goes_to_and_fro() {
        let order = Order::first(2).give(0, 1);
        assert_eq!(given(0, Order::first(2), order)[..3], [None, Some(1), None]);
        assert_eq!(given(1, Order::first(2), order), [None; 8]);
        // Looked at once under one order.
        let mut part = Part::new(5, order);
        let mut seen = Seen::default();
        assert!(part.has_to_look_at(seen));
        assert_eq!(part.destination(&mut seen), Some(0));
        assert!(!part.has_to_look_at(seen));
    }
}
