/**
 * What is wrong with an operator of this name, params and whether a length is given, or undefined.
 */
export type OperatorCheck = (
  name: string,
  params: string,
  hasLength: boolean,
) => string | undefined;

/**
 * What is wrong with an operator's params, or undefined: words to follow its name, such as "must be
 * …".
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
