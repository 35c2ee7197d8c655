//! When is sent what: users type a phrase key by key and rest, and documents get other short descriptions.

use std::fs;
use std::time::Duration;

use crate::Failure;
use crate::options::Options;

/// Between two keys of a user: people type some 5 keys a second.
const KEY_MIN: Duration = Duration::from_millis(120);
const KEY_MAX: Duration = Duration::from_millis(280);
/// How many phrases a user has typed on average before the load begins: pauses differ, so that by then users are spread evenly.
const PAST_CYCLES: f64 = 10.0;
/// The class of queries.py whose texts are typed; its `keystroke stream` types the first of them.
const CLASS: &str = "word + prefix";

/// Splitmix64: the same plan for the same seed.
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The requests of all phrases and what is written.
pub struct Texts {
    /// Of each phrase, a request for each key: a WebSocket message with FT.SEARCH for what has been typed.
    pub phrases: Vec<Vec<Vec<u8>>>,
    /// Id and short description of each indexed document.
    documents: Vec<(String, String)>,
}

impl Texts {
    /// Fails if a file cannot be read or has no phrases or documents.
    pub fn read(options: &Options) -> Result<Texts, Failure> {
        let mut phrases = Vec::new();
        for line in fs::read_to_string(&options.queries)?.lines() {
            let mut columns = line.split('\t');
            if let (Some(CLASS), Some(text)) = (columns.next(), columns.next()) {
                let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
                phrases.push(ends.map(|end| message(&search(&text[..end]))).collect());
            }
        }
        let mut documents = Vec::new();
        for line in fs::read_to_string(&options.documents)?.lines().skip(1).take(options.count) {
            let mut columns = line.split('\t');
            let (Some(id), Some(short)) = (columns.next(), columns.nth(1)) else {
                return Err("a row of documents is too short".into());
            };
            documents.push((id.to_owned(), short.to_owned()));
        }
        if phrases.is_empty() || documents.is_empty() {
            return Err("no phrases or no documents".into());
        }
        Ok(Texts { phrases, documents })
    }

    /// An HSET that gives an indexed document the short description of another one, and another popularity.
    pub fn write(&self, dice: &mut Dice) -> Vec<u8> {
        let (id, _) = &self.documents[dice.below(self.documents.len())];
        let (_, short) = &self.documents[dice.below(self.documents.len())];
        let popularity = dice.below(1000).to_string();
        request(&["HSET", &format!("i:{id}"), "short", short, "popularity", &popularity])
    }
}

fn search(typed: &str) -> Vec<u8> {
    // Signs mean something in RediSearch's language.
    let mut text = String::new();
    for letter in typed.chars() {
        if !letter.is_alphanumeric() && !letter.is_whitespace() {
            text.push('\\');
        }
        text.push(letter);
    }
    request(&[
        "FT.SEARCH",
        "i",
        &text,
        "SCORER",
        "INSTANT",
        "POPULARITY",
        "popularity",
        "LATEST",
        "RETURN",
        "2",
        "name",
        "short",
        "LIMIT",
        "0",
        "10",
    ])
}

fn request(words: &[&str]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n{word}\r\n", word.len()).as_bytes());
    }
    bytes
}

/// One masked frame; a mask of zeros leaves the payload as it is.
fn message(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x82];
    match payload.len() {
        size @ 0..126 => bytes.push(0x80 | size as u8),
        size => {
            bytes.push(0x80 | 126);
            bytes.extend_from_slice(&u16::try_from(size).expect("queries are short").to_be_bytes());
        }
    }
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(payload);
    bytes
}

/// A user: types a phrase key by key, rests, types another one.
pub struct User {
    phrase: usize,
    key: usize,
}

impl User {
    /// A user and the moment of the first key. The user has typed and rested for some time before the load begins, so that the rate is
    /// even from then on.
    pub fn begin(texts: &Texts, seconds_per_key: f64, dice: &mut Dice) -> (User, Duration) {
        let mut user = User { phrase: dice.below(texts.phrases.len()), key: 0 };
        let cycle = texts.phrases[user.phrase].len() as f64 * seconds_per_key;
        let begin = Duration::from_secs_f64(cycle * PAST_CYCLES);
        let mut moment = Duration::from_secs_f64(cycle * dice.share());
        while moment < begin {
            moment += user.press(texts, seconds_per_key, dice).1;
        }
        (user, moment - begin)
    }

    /// What the user sends now, and how long after it the next key follows. The pause behind a phrase is so long that a user has
    /// one key in `seconds_per_key` on average.
    pub fn press<'a>(
        &mut self,
        texts: &'a Texts,
        seconds_per_key: f64,
        dice: &mut Dice,
    ) -> (&'a [u8], Duration) {
        let phrase = &texts.phrases[self.phrase];
        let request = &phrase[self.key];
        let key = KEY_MIN + (KEY_MAX - KEY_MIN).mul_f64(dice.share());
        self.key += 1;
        if self.key < phrase.len() {
            return (request, key);
        }
        let typing = (KEY_MIN + KEY_MAX).as_secs_f64() / 2.0;
        let pause = phrase.len() as f64 * (seconds_per_key - typing).max(0.0);
        (self.phrase, self.key) = (dice.below(texts.phrases.len()), 0);
        (request, key + Duration::from_secs_f64(pause * (0.5 + dice.share())))
    }
}
