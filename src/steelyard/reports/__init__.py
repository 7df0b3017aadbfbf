"""Results to text, JSON, JUnit and other forms that people and machines read; pure."""
