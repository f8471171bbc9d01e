/** Errors of API calls. */
import type { ProblemReason } from "@pinakes/client";
import { stateStrings } from "../strings/states.ts";

export interface ProblemBody {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly reason?: ProblemReason;
  /** The field that the detail is about; the detail begins with it. */
  readonly field?: string;
  readonly retryable?: boolean;
  readonly request_id?: string;
  readonly [more: string]: unknown;
}

/** An error response. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly status: number;
  readonly problem: ProblemBody;

  constructor(status: number, problem: ProblemBody) {
    super(problem.detail ?? problem.title ?? stateStrings.answered(status));
    this.status = status;
    this.problem = problem;
  }

  get code(): string {
    return this.problem.code ?? "";
  }
}

/** No response: the server or the connection is down. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** A user action without a response; it is not retried automatically. */
export class NotSentError extends UnreachableError {}

export function isProblem(error: unknown, status?: number): error is ProblemError {
  return error instanceof ProblemError && (status === undefined || error.status === status);
}

export async function readProblem(response: Response): Promise<ProblemError> {
  return problemOf(response.status, await response.text());
}

export function problemOf(status: number, text: string): ProblemError {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return new ProblemError(status, body as ProblemBody);
  } catch {
    // A proxy's error page, for example.
  }
  return new ProblemError(status, {});
}
