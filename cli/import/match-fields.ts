/** Fields that say which requests a Mapping matches, in the order in which people read them. */
export const MATCH_FIELDS: readonly string[] = [
  'host',
  'prefix',
  'prefix_exact',
  'prefix_regex',
  'case_sensitive',
  'precedence',
  'headers',
  'regex_headers',
];
