import type { Sample } from "./sample.ts";

export const incidentRunbook: Sample = {
  name: "incident-runbook.md",
  text: `# Incident runbook: payments service

This runbook is for whoever is on call for the payments service. Read the first section before you touch anything.

## First five minutes

Acknowledge the page within five minutes, or it goes to the second person on call. Open the dashboard "Payments / Overview" and look at three things: the error rate, the age of the oldest message in the queue, and the free connections of the database. Write what you see into the incident channel, with the time.

If customers cannot pay at all, it is a severity 1 incident: say so in the channel, and call the incident lead. If payments are slow but go through, it is severity 2.

## Queue backlog

When the oldest message is older than ten minutes, the workers do not keep up or do not run. Check the workers first: run "svc status payments-worker" on the bastion host. A worker that is stuck shows no heartbeat for more than 60 seconds.

To restart the workers without losing messages, drain them first with "svc drain payments-worker", wait until the count of running jobs is zero, then run "svc restart payments-worker". Messages that were being worked on return to the queue after two minutes. Never purge the queue: it holds payments that customers have already confirmed.

## Database connections used up

The pool has 120 connections. When fewer than ten are free, look for long transactions in the view "pg_stat_activity" and end those older than 15 minutes, after you have asked their owner. Turn off the nightly report job if it is running: it holds up to 40 connections.

## Rolling back a release

Every release can be taken back within 24 hours with "deploy rollback payments". The rollback takes about four minutes and does not touch the database schema, because schema changes are always compatible with the release before. After a rollback, freeze deployments until the review.

## After the incident

Write the review within three working days. It names what happened, when, what was done, and what will be changed; it names no person as the cause. Action items get an owner and a date.
`,
};
