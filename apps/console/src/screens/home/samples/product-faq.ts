import type { Sample } from "./sample.ts";

export const productFaq: Sample = {
  name: "product-faq.md",
  text: `# Lighthouse: frequently asked questions

Lighthouse is the invoicing product of Harbour Labs. These are the questions that support answers most often.

## Plans and billing

The Starter plan is free for up to 20 invoices a month. The Team plan costs 18 euros per person and month and has no limit on invoices. You can change the plan at any time: an upgrade counts at once, a downgrade from the next billing period on.

We refund the last payment if you cancel within 14 days of it. Write to support with the number of the invoice; the money is back within five working days.

## Users and roles

An owner may do everything, an accountant may see and export all invoices, and a member sees only the invoices that they made. Only an owner can invite people or change roles. If the only owner has left your company, support can appoint another one after checking the entry in the commercial register.

## Importing and exporting

Invoices can be imported from CSV files of up to 10 MB with at most 50,000 rows. Dates must be written as 2024-03-31. Exports are made as CSV or as PDF/A, which tax authorities accept for archiving. An export of more than 10,000 invoices is sent by mail when it is ready.

## Security

Two-factor sign-in can be made compulsory for all members under Settings, Security. Data is stored in data centres in Frankfurt and Helsinki and encrypted at rest. Backups are kept for 35 days. We delete all data of a closed account after 30 days, except invoices that the law makes us keep for ten years.

## When something does not work

The status page shows disturbances within five minutes. If a PDF is empty, the template usually uses a font that is not embedded: choose another font or upload it under Settings, Templates. If mails do not arrive, check that your domain has our SPF and DKIM records.
`,
};
