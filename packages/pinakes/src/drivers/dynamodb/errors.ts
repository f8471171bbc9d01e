/** Classifies errors of the AWS SDK. Callers only ever see a PinakesError, with the SDK's own error as its cause. */
import { PinakesError } from "../../domain/errors.ts";

/**
 * - condition: a condition did not hold; nothing was written
 * - contention: another transaction held the item; nothing was written
 * - unavailable: throttled, or no connection was made; nothing was written
 * - unknown: the answer was lost; the request may have been carried out, or still be
 * - refused: the service does not accept the request
 */
export type Failure = "condition" | "contention" | "unavailable" | "unknown" | "refused";

const byName: Readonly<Record<string, Failure>> = {
  ConditionalCheckFailedException: "condition",
  TransactionConflictException: "contention",
  ReplicatedWriteConflictException: "contention",
  ProvisionedThroughputExceededException: "unavailable",
  ThrottlingException: "unavailable",
  Throttling: "unavailable",
  RequestLimitExceeded: "unavailable",
  LimitExceededException: "unavailable",
  // The same transaction is running already: its outcome is requested again with the same token.
  TransactionInProgressException: "unknown",
  InternalServerError: "unknown",
  ServiceUnavailable: "unknown",
  TimeoutError: "unknown",
};

const byReason: Readonly<Record<string, Failure>> = {
  ConditionalCheckFailed: "condition",
  TransactionConflict: "contention",
  ProvisionedThroughputExceeded: "unavailable",
  ThrottlingError: "unavailable",
};

const unsent = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Message?: string }[];
}

export function classify(error: unknown): Failure {
  const { name = "", code, $metadata, CancellationReasons } = error as SdkError;
  if (name === "TransactionCanceledException") return classifyReasons(CancellationReasons ?? []);
  const known = byName[name];
  if (known !== undefined) return known;
  if (code !== undefined && unsent.has(code)) return "unavailable";
  if (($metadata?.httpStatusCode ?? 0) >= 500) return "unknown";
  // No status at all: the connection broke (ECONNRESET, EPIPE, socket hang up), after the request may have been sent.
  if ($metadata?.httpStatusCode === undefined && code !== undefined) return "unknown";
  return "refused";
}

function classifyReasons(reasons: readonly { readonly Code?: string }[]): Failure {
  const failures = reasons.flatMap(({ Code }) =>
    Code === undefined || Code === "None" ? [] : [byReason[Code] ?? "refused"],
  );
  const worst = (["refused", "condition", "contention", "unavailable"] as const).find((failure) =>
    failures.includes(failure),
  );
  return worst ?? "unavailable";
}

/** The service's name for the error, such as ResourceInUseException. */
export function errorName(error: unknown): string {
  const cause = PinakesError.isInstance(error) ? error.cause : error;
  return (cause as SdkError | undefined)?.name ?? "";
}

export function wrapError(error: unknown, doing: string): PinakesError {
  if (PinakesError.isInstance(error)) return error;
  const { name, message, CancellationReasons } = error as SdkError;
  const reasons = (CancellationReasons ?? []).flatMap(({ Code, Message }) =>
    Code === undefined || Code === "None" ? [] : [`${Code}: ${Message ?? ""}`],
  );
  const said = [`${name ?? "Error"}: ${message ?? String(error)}`, ...new Set(reasons)].join("; ");
  if (name === "CredentialsProviderError") {
    return new PinakesError(
      "UNAUTHENTICATED",
      `No credentials for AWS were found (${message ?? ""}). Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run under a role.`,
      { cause: error },
    );
  }
  const failure = classify(error);
  const { code } = error as SdkError;
  if (code !== undefined && unsent.has(code)) {
    return new PinakesError(
      "UNAVAILABLE",
      `DynamoDB cannot be reached (${doing}): ${said}. Check the region and endpoint in PINAKES_ITEMS, and the network.`,
      {
        cause: error,
      },
    );
  }
  if (failure !== "refused") {
    return new PinakesError("UNAVAILABLE", `DynamoDB did not answer in time (${doing}): ${said}. Try again.`, {
      cause: error,
    });
  }
  if (/size/i.test(said) && /exceed/i.test(said)) {
    return new PinakesError("LIMIT_EXCEEDED", `DynamoDB refused the size of the request (${doing}): ${said}`, {
      cause: error,
    });
  }
  return new PinakesError("INTERNAL", `DynamoDB refused the request (${doing}): ${said}`, { cause: error });
}

/** Not retryable: if the write did take effect, a retry would do it twice. */
export function unknownOutcome(cause: unknown): PinakesError {
  return new PinakesError(
    "UNAVAILABLE",
    "The answer to a write was lost, and it is unknown whether the write took effect. Read the item and decide.",
    {
      cause,
      retryable: false,
    },
  );
}
