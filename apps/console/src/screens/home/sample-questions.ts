/** What the sample texts answer (samples/): shown to be clicked. */
export const sampleQuestions: readonly string[] = [
  "How do I restart the workers without losing messages?",
  "Can I get my money back after I cancel?",
  "Who may see customer data in production?",
  "Why is there a queue between the services?",
];
