import type { Sample } from "./sample.ts";

export const onboardingGuide: Sample = {
  name: "onboarding-guide.md",
  text: `# Onboarding guide for new engineers

Welcome to Harbour Labs. This guide covers your first two weeks. Your buddy has done all of it before; ask.

## Before the first day

You receive a laptop with an encrypted disk and a hardware security key. Keep the spare key at home, not in the bag with the laptop. Your accounts are made on the morning of the first day, so nothing works before 9 o'clock.

## First day

Set up the security key for single sign-on, then for the source repository. Install the development tools with the script "setup/workstation". It takes about 40 minutes; have lunch with your team meanwhile. In the afternoon your buddy shows you how a change travels from a branch to production.

## First week

Make one small change and ship it. There is a list of good first changes with the label "first week". A change needs one review; a change to payments or to access rights needs two. Reviews are answered within one working day. If yours is not, ask in the channel of the team and not in private.

## Access to production data

Nobody has standing access to customer data. Ask for it in the access tool, with a reason and a ticket. Access lasts four hours and is recorded. Copies of customer data on laptops are not allowed, also not for debugging; use the anonymised set in the staging environment.

## Time off and sick leave

You have 30 days of holiday a year. Ask your lead for holidays longer than two weeks at least a month ahead. If you are ill, write to your lead before 10 o'clock; a doctor's note is needed from the fourth day on.

## Expenses

Books, courses and conferences are paid from a learning budget of 1,500 euros a year. Hand in receipts within 30 days in the expense tool. Train is preferred to plane for journeys under six hours.
`,
};
