import { script } from '#redis/script.ts';

/**
 * Each script has one key, so that it touches one slot in a cluster. A record in Redis is the text
 * `<version>.<digests of its groups, joined by commas>.<value in Base64>`. See
 * redis-record-text.ts.
 */

/**
 * ARGV: the version that must be present, the next one, the value in Base64, ms. Returns 1 or 0.
 */
export const REPLACE = script(`
local old = redis.call('GET', KEYS[1])
if not old then return 0 end
local version, groups = string.match(old, '^([^.]*)%.([^.]*)%.')
if version ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2] .. '.' .. groups .. '.' .. ARGV[3], 'PX', ARGV[4])
return 1
`);

/** Returns what it removed, or nil. GETDEL would do, but needs Redis 6.2. */
export const TAKE = script(`
local old = redis.call('GET', KEYS[1])
if not old or old == '' then return false end
redis.call('DEL', KEYS[1])
return old
`);

/**
 * ARGV: the record, ms. Returns 1, or 0 where there is one, or 2 where it was evicted before it was
 * made.
 */
export const MAKE = script(`
local old = redis.call('GET', KEYS[1])
if old == '' then return 2 end
if old then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/**
 * As TAKE. A record that has joined its groups and is not made yet can no longer be made. An empty
 * text stands in its place for ARGV ms.
 */
export const PUT_OUT = script(`
local old = redis.call('GET', KEYS[1])
if old == '' then return false end
if old then
  redis.call('DEL', KEYS[1])
  return old
end
redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
return false
`);

/** ARGV: the holder. */
export const RELEASE = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
`);

/**
 * ARGV: what to add, ms. A counter saturates at 2^53-1. Returns text, because the client library
 * rounds the largest numbers.
 */
export const COUNT = script(`
local count = redis.call('INCRBY', KEYS[1], ARGV[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = ARGV[2]
  redis.call('PEXPIRE', KEYS[1], left)
end
if count > 9007199254740991 then
  count = 9007199254740991
  redis.call('SET', KEYS[1], '9007199254740991', 'PX', math.max(1, left))
end
return string.format('%.0f', count)
`);

/**
 * ARGV: a record's key, how many there may be, ms that the record lives, how many may be evicted at
 * once. Returns the keys of those. The list of a group is a sorted set in the order of joining. It
 * lives as long as the last record that joined.
 */
export const JOIN = script(`
local last = redis.call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')
redis.call('ZADD', KEYS[1], (tonumber(last[2]) or 0) + 1, ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
local over = math.min(redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[2]), tonumber(ARGV[4]))
if over <= 0 then return {} end
local out = redis.call('ZRANGE', KEYS[1], 0, over - 1)
redis.call('ZREM', KEYS[1], unpack(out))
return out
`);
