pub fn label(n: u32) -> String {
    format!("{:02}:{:02}", n / 60, n % 61)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes() {
        assert_eq!(label(719), "11:59");
    }

    #[test]
    fn zero() {
        assert_eq!(label(0), "00:00");
    }
}
