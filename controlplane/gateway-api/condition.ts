/** One condition of an object, or of a part of it, without its type. */
export type ConditionValue = {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
};

/** A condition by its type. Source: Kubernetes API, meta/v1 Condition. */
export type NamedCondition = ConditionValue & { readonly type: string };

/** Something of an object that cannot be served: the reason of its condition, and the field. */
export type Fault = {
  readonly reason: string;
  /** Its path, such as `spec.rules[0].backendRefs[1]`. */
  readonly field: string;
  readonly message: string;
};

/** So many faults are told in one condition. A Gateway asks for no more addresses. */
const MOST_TOLD = 16;

/** Returns the condition of this type that is true when there is no fault. */
export function conditionOf(
  type: string,
  faults: readonly Fault[],
  { reason = type, message }: { readonly reason?: string; readonly message: string },
): NamedCondition {
  const [first] = faults;
  if (first === undefined) return { type, status: 'True', reason, message };
  return { type, status: 'False', reason: first.reason, message: tellFaults(faults) };
}

/** Returns the condition of what is not served, or not as it is written. */
export function notProgrammed(
  reason: string,
  message = 'The proxies do not get it',
): NamedCondition {
  return { type: 'Programmed', status: 'False', reason, message };
}

/** Returns the text of a condition about these faults. */
export function tellFaults(faults: readonly Fault[]): string {
  const told = faults.slice(0, MOST_TOLD).map(({ field, message }) => `${field}: ${message}`);
  const more = faults.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('. ');
}
