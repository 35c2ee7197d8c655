//! Prometheus' text format, version 0.0.4: families of samples, each with its help and type.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::fmt::Write;

/// The type of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value that only grows, until a restart.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// Quantiles with a sum and a count.
    Summary,
}

/// A page under construction. Invariant of its users: each family is begun once.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
}

/// Where the samples of one family go.
pub struct Family<'p> {
    text: &'p mut String,
    name: &'p str,
}

impl Page {
    /// Begins a family.
    pub fn family<'p>(&'p mut self, name: &'p str, kind: Kind, help: &str) -> Family<'p> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Summary => "summary",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        // Writing to a String cannot fail.
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        Family { text: &mut self.text, name }
    }

    /// The page.
    pub fn finish(self) -> String {
        self.text
    }
}

impl Family<'_> {
    /// Adds a sample; no other of the family has the same labels.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: f64) {
        self.part("", labels, value);
    }

    /// Adds the sum and the count of a summary.
    pub fn sum_and_count(&mut self, labels: &[(&str, &str)], sum: f64, count: f64) {
        self.part("_sum", labels, sum);
        self.part("_count", labels, count);
    }

    fn part(&mut self, suffix: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        for (at, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.text, "{}{label}=\"{value}\"", if at == 0 { '{' } else { ',' });
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = match value {
            f64::INFINITY => writeln!(self.text, " +Inf"),
            f64::NEG_INFINITY => writeln!(self.text, " -Inf"),
            _ => writeln!(self.text, " {value}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Page};

    #[test]
    fn label_ends_its_line() {
        let mut page = Page::default();
        let mut family = page.family("errors_total", Kind::Counter, "one\\two\nthree");
        family.sample(&[("err", "a\\b\"c\nd"), ("other", "")], 1.5);
        family.sample(&[], f64::INFINITY);
        page.family("times", Kind::Summary, "").sum_and_count(&[("cmd", "get")], 3e21, -0.25);
        let expected = "# HELP errors_total one\\\\two\\nthree\n\
                        # TYPE errors_total counter\n\
                        errors_total{err=\"a\\\\b\\\"c\\nd\",other=\"\"} 1.5\n\
                        errors_total +Inf\n\
                        # HELP times \n\
                        # TYPE times summary\n\
                        times_sum{cmd=\"get\"} 3000000000000000000000\n\
                        times_count{cmd=\"get\"} -0.25\n";
        assert_eq!(page.finish(), expected);
    }
}
