import type { Sample } from "./sample.ts";

export const releaseNotes: Sample = {
  name: "release-notes-5.2.md",
  text: `# Lighthouse 5.2 release notes

Released on 12 March. Rolled out to all customers over three days.

## New

Recurring invoices: an invoice can be repeated weekly, monthly or yearly. The owner gets a mail two days before each one is sent and can stop it. Recurring invoices need the Team plan.

Reminders: unpaid invoices can be reminded of automatically 7, 14 and 30 days after the due date. The texts are templates that each company can change.

Dark mode follows the setting of the operating system.

## Changed

The session now ends after 12 hours instead of 24. People who work with the two-factor sign-in can stay signed in for 30 days on a known device.

The export as XLS is gone; use CSV. Fewer than 40 companies used it in the last year, and all were told in January.

## Fixed

Totals of invoices in Japanese yen were shown with two decimal places. Amounts that were paid were always right.

Searching for an invoice number with leading zeros found nothing. It now ignores them.

## Known problems

On Safari 16 the preview of a PDF may stay white. Download the file instead; a fix comes with 5.2.1. Imports of files with more than 30,000 rows can take up to ten minutes at the end of the month.
`,
};
