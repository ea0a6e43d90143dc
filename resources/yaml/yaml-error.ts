import type { ErrorCode, YAMLError } from 'yaml';

/** The library's messages quote the text, in which a secret may stand. These do not. */
const MESSAGES: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (`*name`) can have neither anchor nor tag',
  BAD_ALIAS:
    'an alias (`*name`) needs the name of an anchor (`&name`) before it in the same document',
  BAD_DIRECTIVE: 'unknown directive. A line of a document may not begin with "%"',
  BAD_DQ_ESCAPE:
    'unknown escape in a double-quoted string. Write `\\\\` for a backslash, or use single quotes',
  BAD_INDENT: 'wrong indentation, or a bracket or quote before this is not closed',
  BAD_PROP_ORDER: 'anchors and tags belong before the value',
  BAD_SCALAR_START: 'a plain value may not begin with this character. Quote it',
  BLOCK_AS_IMPLICIT_KEY:
    'there is a value with ":" where a plain value is expected. Check the indentation, or quote it',
  BAD_COLLECTION_TYPE: 'a tag (`!name`) does not fit its value',
  BLOCK_IN_FLOW: 'a block is not allowed within {} or []',
  DUPLICATE_KEY: 'a key appears twice in one map',
  IMPOSSIBLE: 'not YAML',
  KEY_OVER_1024_CHARS: 'a key has more than 1024 characters',
  MISSING_CHAR: 'a closing quote, bracket, comma or ":" is missing',
  MULTILINE_IMPLICIT_KEY: 'a key goes over several lines. Is a ":" missing?',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'a second document begins without "---"',
  MULTIPLE_TAGS: 'a value has two tags',
  NON_STRING_KEY:
    'a key must be a string. Quote a value that begins with "{{", or fill in the template first',
  RESOURCE_EXHAUSTION: 'it is nested too deeply',
  TAB_AS_INDENT: 'a tab is used for indentation. Use spaces',
  TAG_RESOLVE_FAILED: 'unknown tag (`!name`)',
  UNEXPECTED_TOKEN: 'this does not belong here. Check the indentation and the quotes',
};

/** Explains what is wrong with YAML, without quoting it. */
export function explainYamlError(error: YAMLError): string {
  return `Cannot read this YAML: ${MESSAGES[error.code]}`;
}
