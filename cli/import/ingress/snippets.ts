/** Directives of nginx that decide neither who may pass nor what the service believes. */
const HARMLESS: readonly string[] = [
  'access_log',
  'add_header',
  'client_body_buffer_size',
  'error_log',
  'expires',
  'gzip',
  'gzip_comp_level',
  'gzip_min_length',
  'gzip_proxied',
  'gzip_types',
  'gzip_vary',
  'keepalive_timeout',
  'log_not_found',
  'more_set_headers',
  'proxy_buffer_size',
  'proxy_buffering',
  'proxy_buffers',
  'proxy_busy_buffers_size',
  'proxy_connect_timeout',
  'proxy_max_temp_file_size',
  'proxy_read_timeout',
  'proxy_request_buffering',
  'proxy_send_timeout',
  'send_timeout',
  'tcp_nodelay',
];

/**
 * A comment, or a value in quotes. Both begin only where a word of nginx does, since `a#b` and
 * `a"b` are plain words.
 */
const COMMENT_OR_QUOTED = /(?<=^|[\s;{}])(?:#[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')/gs;

/** Returns whether a snippet has nothing but these directives, without blocks. */
export function isHarmless(snippet: string): boolean {
  const code = snippet.replaceAll(COMMENT_OR_QUOTED, found => (found.startsWith('#') ? ' ' : 'x'));
  if (/[{}]/.test(code)) return false;
  return code
    .split(';')
    .map(text => text.trim())
    .filter(text => text !== '')
    .every(text => HARMLESS.includes(text.split(/\s/)[0] ?? ''));
}
