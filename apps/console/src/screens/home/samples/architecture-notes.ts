import type { Sample } from "./sample.ts";

export const architectureNotes: Sample = {
  name: "architecture-notes.md",
  text: `# Architecture notes: Lighthouse

Written for engineers who join the team. It says why things are as they are; the code says how.

## Overview

Lighthouse has three services: the web application, the payments service, and the document service that makes PDFs. They share one PostgreSQL cluster with a schema for each. A queue stands between the web application and the other two, so that a slow PDF never makes a page slow.

## Why a queue and not direct calls

We called the document service directly until 2022. When it was slow at the end of the month, the web application ran out of threads and went down with it. With the queue, invoices are accepted at once and the PDF follows, usually within three seconds. The price is that the user interface must show a state "being prepared".

## Idempotent payments

Each payment carries a key that the browser makes. The payments service keeps the key for 48 hours and answers a repeated request with the first answer. So a customer who clicks twice, or whose connection breaks, never pays twice.

## Search

Full-text search runs on PostgreSQL. We tried a separate search cluster and gave it up: it was out of date by up to a minute, and support could not find invoices that customers had just made. PostgreSQL is fast enough up to about 20 million invoices; we have 6 million.

## What we would do differently

The tenant id should have been part of every primary key from the beginning. Adding it later took seven months. We would also write the audit log with the change in one transaction, and not by an event afterwards, because events were lost in two incidents.
`,
};
