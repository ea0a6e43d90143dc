/**
 * Returns what a log line may say of an error: messages, codes and the stack, also of what caused
 * it. Other properties stay out, because drivers put whole rows into them.
 */
export function describeError(error: unknown): {
  readonly error: string;
  readonly stack?: string;
  readonly cause?: string;
} {
  if (!(error instanceof Error)) return { error: String(error) };
  return {
    error: summary(error),
    ...(error.cause === undefined ? { stack: error.stack ?? '' } : { cause: summary(error.cause) }),
  };
}

function summary(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(summary).join(', and ');
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? `${error.message} (${String(error.code)})` : error.message;
}
