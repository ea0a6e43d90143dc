/**
 * Envoy's short names of response flags by their field in `envoy.data.accesslog.v3.ResponseFlags`.
 * Source: Envoy's page "Access logging", `%RESPONSE_FLAGS%`.
 */
export const RESPONSE_FLAGS: ReadonlyMap<number, string> = new Map([
  [1, 'LH'],
  [2, 'UH'],
  [3, 'UT'],
  [4, 'LR'],
  [5, 'UR'],
  [6, 'UF'],
  [7, 'UC'],
  [8, 'UO'],
  [9, 'NR'],
  [10, 'DI'],
  [11, 'FI'],
  [12, 'RL'],
  [13, 'UAEX'],
  [14, 'RLSE'],
  [15, 'DC'],
  [16, 'URX'],
  [17, 'SI'],
  [18, 'IH'],
  [19, 'DPE'],
  [20, 'UMSDR'],
  [21, 'RFCF'],
  [22, 'NFCF'],
  [23, 'DT'],
  [24, 'UPE'],
  [25, 'NC'],
  [26, 'OM'],
  [27, 'DF'],
  [28, 'DR'],
]);
