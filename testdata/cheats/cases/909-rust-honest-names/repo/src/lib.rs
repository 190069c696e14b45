pub fn label(n: u32) -> String {
    format!("{:02}:{:02}", n / 60, n % 61)
}

#[cfg(test)]
mod tests;
