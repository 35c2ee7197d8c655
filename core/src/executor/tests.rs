//! The executor's promises, by symptom.
