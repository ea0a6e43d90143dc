import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from '#resources/testing/problem-lines.ts';
import { rejectedFormats } from '#resources/testing/rejected-formats.ts';
import { parseLogFormat } from '../log-format.ts';
import { LOG_OPERATORS } from '../log-operators.ts';

const NAMES = Object.keys(LOG_OPERATORS);

const ACCEPTED: readonly string[] = [
  'plain é €',
  '100%% of %%DURATION%% in %%%DURATION%%%',
  '%START_TIME% %REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL% %RESPONSE_CODE% %DURATION%\n',
  '%REQ(a)%%REQ(b)%',
  '%REQ(x):0% %REQ(x):007% %REQ(x):18446744073709551615%',
  '%REQ(?b)% %REQ(a?)% %REQ(?)% %REQ(:status)% %REQ(a%b)%',
  '%DURATION()% %START_TIME()%',
  '%START_TIME(%Y-%m-%dT%H:%M:%S.%3fZ)% %EMIT_TIME(%s)% %START_TIME(%)% %START_TIME(n)%',
  '%DYNAMIC_METADATA(a:b):4% %DYNAMIC_METADATA(a)% %CLUSTER_METADATA(a:b)%',
  '%DYNAMIC_METADATA(proxy.filters.http.ratelimit:gw.ratelimit.name)%',
  '%METADATA(ROUTE:a:b):5% %METADATA(LISTENER_FILTER_CHAIN)%',
  '%FILTER_STATE(a)% %FILTER_STATE(a:)% %FILTER_STATE(a:PLAIN:)% %FILTER_STATE(a:FIELD:x:y):9%',
  '%COMMON_DURATION(DS_RX_BEG:DS_TX_END)% %COMMON_DURATION(:)% %COMMON_DURATION(a:b:ns)%',
  '%PATH% %PATH:5% %PATH(:PATH)% %PATH(NQ:ORIG_OR_PATH:x):5%',
  '%QUERY_PARAM(a b)% %QUERY_PARAMS(DECODED):5% %GRPC_STATUS(NUMBER)%',
  '%REQUESTED_SERVER_NAME(HOST_FIRST:ORIG)% %XFCC_VALUE(Subject):3% %ENVIRONMENT(HOME):3%',
  "%CEL(request.headers['x'] || request.url_path.contains('v1')):5%",
  '%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT(16)%',
  '%COALESCE({"operators": ["PROTOCOL", {"command": "REQ", "param": "x", "max_length": 5}]}):9%',
  '%COALESCE({"operators": [{"command": "COALESCE", "param": "{\\"operators\\": [\\"PATH\\"]}"}]})%',
];

const REFUSED: readonly [format: string, reason: string][] = [
  ['%FOO%', 'unknown operator `FOO`'],
  ['%DURATON%', 'unknown operator `DURATON`, did you mean `DURATION`?'],
  ['%duration%', 'unknown operator `duration`, did you mean `DURATION`?'],
  ['%REQ_WITHOUT_QUERY(a)%', 'unknown operator `REQ_WITHOUT_QUERY`'],
  ['%', 'the "%" at character 1 begins no operator. Write "%%" for a percent sign'],
  ['100% of it', 'the "%" at character 4 begins no operator. Write "%%" for a percent sign'],
  ['%DURATION% %%%', 'the "%" at character 14 begins no operator. Write "%%" for a percent sign'],
  ['% DURATION%', 'the "%" at character 1 begins no operator. Write "%%" for a percent sign'],
  ['%DURATION', '`DURATION` is not closed by a "%"'],
  ['%DURATION %', '`DURATION` is not closed by a "%"'],
  ['%REQ(X', 'the params of `REQ` are not closed on their line: write %REQ(…)%'],
  ['%REQ(a\nb)%', 'the params of `REQ` are not closed on their line: write %REQ(…)%'],
  ['%REQ(X):abc%', 'the length of `REQ` must be digits, as in %REQ(…):10%'],
  ['%REQ(X):-1%', 'the length of `REQ` must be digits, as in %REQ(…):10%'],
  ['%REQ(X):%', 'the length of `REQ` must be digits, as in %REQ(…):10%'],
  ['%REQ(X):18446744073709551616%', 'the length of `REQ` is too large: 18446744073709551616'],
  ['%REQ%', '`REQ` needs params: %REQ(…)%'],
  ['%REQ():5%', '`REQ` needs params: %REQ(…)%'],
  ['%DURATION(x)%', '`DURATION` takes neither params nor a length: write %DURATION%'],
  ['%DURATION:5%', '`DURATION` takes neither params nor a length: write %DURATION%'],
  ['%CLUSTER_METADATA(a):5%', '`CLUSTER_METADATA` takes no length'],
  ['%REQ(a b)%', '`REQ` must be a header name: "a b" is none'],
  ['%REQ(:)%', '`REQ` must be a header name: ":" is none'],
  ['%REQ(a)b)%', '`REQ` must be a header name: "a)b" is none'],
  ['%RESP(a?b?c)%', '`RESP` may name one other header after "?", not more'],
  ['%START_TIME(%En)%', '`START_TIME` may not have "%n", a line break'],
  ['%GRPC_STATUS(number)%', '`GRPC_STATUS` may be CAMEL_STRING, SNAKE_STRING, NUMBER'],
  ['%PATH(XX)%', '`PATH` may be WQ, NQ'],
  ['%PATH(NQ:x)%', '`PATH` may be ORIG, PATH, ORIG_OR_PATH'],
  ['%XFCC_VALUE(email)%', '`XFCC_VALUE` may be by, hash, cert, chain, subject, uri, dns'],
  [
    '%METADATA(route:a)%',
    '`METADATA` must begin with DYNAMIC, CLUSTER, ROUTE, UPSTREAM_HOST, LISTENER, LISTENER_FILTER_CHAIN, VIRTUAL_HOST',
  ],
  ['%FILTER_STATE(:PLAIN)%', '`FILTER_STATE` must be KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME'],
  ['%FILTER_STATE(a:FIELD)%', '`FILTER_STATE` must be KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME'],
  [
    '%COMMON_DURATION(a:b:s)%',
    '`COMMON_DURATION` must be START:END:PRECISION, with the precision ms, us or ns',
  ],
  [
    '%COMMON_DURATION(a)%',
    '`COMMON_DURATION` must be START:END:PRECISION, with the precision ms, us or ns',
  ],
  [
    '%COALESCE({"operators": []})%',
    '`COALESCE` must be JSON such as {"operators": ["PROTOCOL", {"command": "REQ", "param": "x-name"}]}',
  ],
  [
    '%COALESCE({"operators": ["DURATON"]})%',
    '`COALESCE` has a wrong operator: unknown operator `DURATON`, did you mean `DURATION`?',
  ],
  [
    '%COALESCE({"operators": [{"command": "REQ", "param": "x", "max_length": 0}]})%',
    '`COALESCE` has a `max_length` that is not an integer from 1',
  ],
];

for (const format of ACCEPTED) {
  test(`the format ${JSON.stringify(format)} is accepted`, () =>
    assert.deepEqual(parseLogFormat(format), { value: format }));
}

for (const [format, reason] of REFUSED) {
  test(`the format ${JSON.stringify(format)} is rejected: ${reason}`, () =>
    assert.deepEqual(parseLogFormat(format), { error: `Cannot parse log format: ${reason}` }));
}

/** Envoy 1.40 ends when it reads one of these. */
for (const params of ['5', 'null', 'true', '"x"']) {
  test(`COALESCE with the JSON ${params}, which Envoy does not survive, is rejected`, () => {
    const parsed = parseLogFormat(`%COALESCE(${params})%`);
    assert.match(
      'error' in parsed ? parsed.error : '',
      /^Cannot parse log format: `COALESCE` must be JSON/,
    );
  });
}

test('a format that is endless is rejected', () => {
  assert.ok('error' in parseLogFormat('%REQ('.repeat(100_000)));
});

test('a Module with a wrong format is rejected', () => {
  assert.deepEqual(problemsOf('Module', { config: { proxy_log_format: '%DURATON%' } }, 'gateway'), [
    'error spec.config.proxy_log_format: Cannot parse log format: unknown operator `DURATON`, did you mean `DURATION`?',
  ]);
});

test('Envoy accepts and refuses the same formats', async () => {
  const rejected = REFUSED.map(([format]) => format);
  assert.deepEqual(await rejectedFormats([...ACCEPTED, ...rejected]), rejected);
});

/**
 * What follows each operator's name. `COALESCE` is left out, because Envoy does not survive what it
 * makes of them.
 */
const FORMS = ['', '()', '():5', ':5', '(x)', '(x):5', '(a:b)', '(a?b)', '(%n)', '(a b)'];

test('Envoy accepts and refuses every operator in the same forms', async () => {
  const names = NAMES.filter(name => !['CEL', 'TYPED_CEL', 'COALESCE'].includes(name));
  const formats = names.flatMap(name => FORMS.map(form => `%${name}${form}%`));
  const rejected = formats.filter(format => 'error' in parseLogFormat(format));
  assert.deepEqual(await rejectedFormats(formats), rejected);
});
