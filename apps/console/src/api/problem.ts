/** Why a call did not do what it was asked. */
import { stateStrings } from "../strings/states.ts";

export interface ProblemBody {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  readonly code?: string;
  readonly retryable?: boolean;
  readonly request_id?: string;
  readonly [more: string]: unknown;
}

/** The server answered, and said no. */
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

/** There was no answer: the server is down, or the connection is. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** There was none to what somebody did, and nobody does it again by itself. */
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
    // A proxy's page, for instance; its text is no use to anybody here.
  }
  return new ProblemError(status, {});
}
