/**
 * Matches `%%`, an operator, or a `%` that begins neither. Params reach to the first `)` that the
 * end of an operator follows.
 */
export const LOG_TOKEN = /%%|%([A-Z0-9_]+)(?:\(([^\n]*?)\))?(?::([0-9]+))?%|%/g;

/**
 * Checks an operator by its name, its params and whether a length is given.
 * @returns what is wrong, or undefined
 */
export type OperatorCheck = (
  name: string,
  params: string,
  hasLength: boolean,
) => string | undefined;

/**
 * Checks an operator's params.
 * @returns what is wrong, as words that follow its name, such as "must be …", or undefined
 */
export type ParamsCheck = (params: string, checkOperator: OperatorCheck) => string | undefined;

/**
 * What may follow the name of a command operator of Envoy's access log, as in
 * `%NAME(params):length%`.
 */
export type LogOperator = {
  readonly params: 'none' | 'optional' | 'required';
  readonly length: boolean;
  readonly check?: ParamsCheck;
};
