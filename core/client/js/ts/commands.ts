// Made from the table of commands by core/tests/client_methods. Do not edit.

import type { Arg, Args, MapOf, Reply } from './types.js';

/** Every command that any connection may run, as a method. */
export interface Commands<Text> {
  /**
   * Sends its argument back.
   *
   * `ECHO message`, since Redis 1.0.0. O(1).
   */
  echo(message: Arg): Promise<Text>;
  /**
   * Answers PONG or sends its argument back.
   *
   * `PING [message]`, since Redis 1.0.0. O(1).
   */
  ping(...more: Args): Promise<string | Text>;
  /**
   * Begins to rewrite the log without what is no longer needed.
   *
   * `BGREWRITEAOF`, since Redis 1.0.0. O(1).
   */
  bgrewriteaof(): Promise<string>;
  /**
   * Begins to make everything durable and answers at once.
   *
   * `BGSAVE [SCHEDULE]`, since Redis 1.0.0. O(1).
   */
  bgsave(...more: Args): Promise<string>;
  /**
   * Describes every command for programs.
   *
   * `COMMAND`, since Redis 2.8.13. O(N), N: commands.
   */
  command(...more: Args): Promise<[Text, number, string[], number, number, number, string[], Text[], MapOf<Text, Reply<Text>>[], Reply<Text>[]][]>;
  /**
   * Counts the keys of the selected database.
   *
   * `DBSIZE`, since Redis 1.0.0. O(1).
   */
  dbsize(): Promise<number>;
  /**
   * Helps to test clients and the server itself, where enable-debug-command allows it.
   *
   * `DEBUG`, since Redis 1.0.0. depends on the subcommand.
   */
  debug(...more: Args): Promise<Reply<Text>>;
  /**
   * Would hand over to a replica, of which there are none.
   *
   * `FAILOVER [TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]`, since Redis 6.2.0. O(1).
   */
  failover(...more: Args): Promise<'OK'>;
  /**
   * Deletes every key of every database.
   *
   * `FLUSHALL [ASYNC | SYNC]`, since Redis 1.0.0. O(N), N: keys of all databases.
   */
  flushall(...more: Args): Promise<'OK'>;
  /**
   * Deletes every key of the selected database.
   *
   * `FLUSHDB [ASYNC | SYNC]`, since Redis 1.0.0. O(N), N: keys of the database.
   */
  flushdb(...more: Args): Promise<'OK'>;
  /**
   * Reports facts, counters and settings of the server by section.
   *
   * `INFO [section [section ...]]`, since Redis 1.0.0. O(1).
   */
  info(...more: Args): Promise<Text>;
  /**
   * Tells the Unix time of the last successful save.
   *
   * `LASTSAVE`, since Redis 1.0.0. O(1).
   */
  lastsave(): Promise<number>;
  /**
   * Shows a drawing and the version.
   *
   * `LOLWUT [VERSION version]`, since Redis 5.0.0. O(1).
   */
  lolwut(...more: Args): Promise<Text>;
  /**
   * Confirms that this server follows no other one.
   *
   * `REPLICAOF <host port | NO ONE>`, since Redis 5.0.0. O(1).
   */
  replicaof(...more: Args): Promise<'OK'>;
  /**
   * Tells the server's part in replication.
   *
   * `ROLE`, since Redis 2.8.12. O(1).
   */
  role(): Promise<[Text, number, [Text, Text, Text][]]>;
  /**
   * Makes everything durable before it answers.
   *
   * `SAVE`, since Redis 1.0.0. O(N), N: keys of all databases.
   */
  save(): Promise<'OK'>;
  /**
   * Stops the server, by default after making everything durable.
   *
   * `SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT]`, since Redis 1.0.0. O(N) when saving, N: keys of all databases; otherwise O(1).
   */
  shutdown(...more: Args): Promise<void | 'OK'>;
  /**
   * Confirms that this server follows no other one.
   *
   * `SLAVEOF <host port | NO ONE>`, since Redis 1.0.0. O(1).
   *
   * @deprecated since 5.0.0: `REPLICAOF`.
   */
  slaveof(...more: Args): Promise<'OK'>;
  /**
   * Exchanges two databases at once for all clients.
   *
   * `SWAPDB index1 index2`, since Redis 4.0.0. O(N), N: clients that watch or wait for keys of either database.
   */
  swapdb(index1: Arg, index2: Arg): Promise<'OK'>;
  /**
   * Tells the server's clock as seconds and microseconds.
   *
   * `TIME`, since Redis 2.6.0. O(1).
   */
  time(): Promise<[Text, Text]>;
  /**
   * Copies a value to another key, or to another database.
   *
   * `COPY source destination [DB destination-db] [REPLACE]`, since Redis 6.2.0. O(N) for collections, N: elements; O(1) for strings.
   */
  copy(source: Arg, destination: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Deletes keys and counts those that existed.
   *
   * `DEL key [key ...]`, since Redis 1.0.0. O(N), N: keys.
   */
  del(...keys: Args): Promise<number>;
  /**
   * Returns the value at a key in the format of Redis' RDB files.
   *
   * `DUMP key`, since Redis 2.6.0. O(N), N: bytes of the value.
   */
  dump(key: Arg): Promise<Text | null>;
  /**
   * Counts how many of the keys exist; a key named twice counts twice.
   *
   * `EXISTS key [key ...]`, since Redis 1.0.0. O(N), N: keys.
   */
  exists(...keys: Args): Promise<number>;
  /**
   * Lets a key expire after a number of seconds.
   *
   * `EXPIRE key seconds [NX | XX | GT | LT]`, since Redis 1.0.0. O(1).
   */
  expire(key: Arg, seconds: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Lets a key expire at a Unix time in seconds.
   *
   * `EXPIREAT key unix-time-seconds [NX | XX | GT | LT]`, since Redis 1.2.0. O(1).
   */
  expireat(key: Arg, unixTimeSeconds: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Tells the Unix time in seconds at which a key expires.
   *
   * `EXPIRETIME key`, since Redis 7.0.0. O(1).
   */
  expiretime(key: Arg): Promise<number>;
  /**
   * Lists all keys that match a glob pattern.
   *
   * `KEYS pattern`, since Redis 1.0.0. O(N), N: keys of the database.
   */
  keys(pattern: Arg): Promise<Text[]>;
  /**
   * Moves a key to another database, unless it exists there.
   *
   * `MOVE key db`, since Redis 1.0.0. O(1).
   */
  move(key: Arg, db: Arg): Promise<0 | 1>;
  /**
   * Removes the expiry of a key.
   *
   * `PERSIST key`, since Redis 2.2.0. O(1).
   */
  persist(key: Arg): Promise<0 | 1>;
  /**
   * Lets a key expire after a number of milliseconds.
   *
   * `PEXPIRE key milliseconds [NX | XX | GT | LT]`, since Redis 2.6.0. O(1).
   */
  pexpire(key: Arg, milliseconds: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Lets a key expire at a Unix time in milliseconds.
   *
   * `PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]`, since Redis 2.6.0. O(1).
   */
  pexpireat(key: Arg, unixTimeMilliseconds: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Tells the Unix time in milliseconds at which a key expires.
   *
   * `PEXPIRETIME key`, since Redis 7.0.0. O(1).
   */
  pexpiretime(key: Arg): Promise<number>;
  /**
   * Tells the milliseconds until a key expires.
   *
   * `PTTL key`, since Redis 2.6.0. O(1).
   */
  pttl(key: Arg): Promise<number>;
  /**
   * Picks some key of the selected database.
   *
   * `RANDOMKEY`, since Redis 1.0.0. O(1).
   */
  randomkey(): Promise<Text | null>;
  /**
   * Gives a key another name and replaces what had that name.
   *
   * `RENAME key newkey`, since Redis 1.0.0. O(1).
   */
  rename(key: Arg, newkey: Arg): Promise<'OK'>;
  /**
   * Gives a key another name, unless that name is taken.
   *
   * `RENAMENX key newkey`, since Redis 1.0.0. O(1).
   */
  renamenx(key: Arg, newkey: Arg): Promise<0 | 1>;
  /**
   * Makes a key of what DUMP returned.
   *
   * `RESTORE key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]`, since Redis 2.6.0. O(N), N: bytes of the value; O(N*log(N)) for sorted sets.
   */
  restore(key: Arg, ttl: Arg, serializedValue: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Walks through the keys of the database with a cursor.
   *
   * `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: keys of the database.
   */
  scan(cursor: Arg, ...more: Args): Promise<[Text, Text[]]>;
  /**
   * Sorts a list, a set or a sorted set, by its elements or by what they refer to.
   *
   * `SORT key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA] [STORE destination]`, since Redis 1.0.0. O(N+M*log(M)), N: elements, M: elements returned; O(N) where nothing is sorted.
   */
  sort(key: Arg, ...more: Args): Promise<Text[] | (Text | null)[] | number>;
  /**
   * Sorts a list, a set or a sorted set without a way to store the result.
   *
   * `SORT_RO key [BY pattern] [LIMIT offset count] [GET pattern [GET pattern ...]] [ASC | DESC] [ALPHA]`, since Redis 7.0.0. O(N+M*log(M)), N: elements, M: elements returned; O(N) where nothing is sorted.
   */
  sortRo(key: Arg, ...more: Args): Promise<Text[] | (Text | null)[]>;
  /**
   * Marks keys as just used and counts those that exist.
   *
   * `TOUCH key [key ...]`, since Redis 3.2.1. O(N), N: keys.
   */
  touch(...keys: Args): Promise<number>;
  /**
   * Tells the seconds until a key expires.
   *
   * `TTL key`, since Redis 1.0.0. O(1).
   */
  ttl(key: Arg): Promise<number>;
  /**
   * Names the type of the value at a key.
   *
   * `TYPE key`, since Redis 1.0.0. O(1).
   */
  type(key: Arg): Promise<string>;
  /**
   * Deletes keys and frees their memory later.
   *
   * `UNLINK key [key ...]`, since Redis 4.0.0. O(1) for each key.
   */
  unlink(...keys: Args): Promise<number>;
  /**
   * Adds bytes to the end of a string, creating it when there is none.
   *
   * `APPEND key value`, since Redis 2.0.0. O(N), N: bytes appended.
   */
  append(key: Arg, value: Arg): Promise<number>;
  /**
   * Subtracts one from the integer at a key.
   *
   * `DECR key`, since Redis 1.0.0. O(1).
   */
  decr(key: Arg): Promise<number>;
  /**
   * Subtracts a number from the integer at a key.
   *
   * `DECRBY key decrement`, since Redis 1.0.0. O(1).
   */
  decrby(key: Arg, decrement: Arg): Promise<number>;
  /**
   * Returns the string at a key.
   *
   * `GET key`, since Redis 1.0.0. O(1).
   */
  get(key: Arg): Promise<Text | null>;
  /**
   * Returns the string at a key and deletes the key.
   *
   * `GETDEL key`, since Redis 6.2.0. O(1).
   */
  getdel(key: Arg): Promise<Text | null>;
  /**
   * Returns the string at a key and sets or removes its expiry.
   *
   * `GETEX key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | PERSIST]`, since Redis 6.2.0. O(1).
   */
  getex(key: Arg, ...more: Args): Promise<Text | null>;
  /**
   * Returns a part of a string, bounds included.
   *
   * `GETRANGE key start end`, since Redis 2.4.0. O(N), N: bytes returned.
   */
  getrange(key: Arg, start: Arg, end: Arg): Promise<Text>;
  /**
   * Sets a string and returns the one it replaces.
   *
   * `GETSET key value`, since Redis 1.0.0. O(1).
   *
   * @deprecated since 6.2.0: `SET` with the `GET` argument.
   */
  getset(key: Arg, value: Arg): Promise<Text | null>;
  /**
   * Adds one to the integer at a key.
   *
   * `INCR key`, since Redis 1.0.0. O(1).
   */
  incr(key: Arg): Promise<number>;
  /**
   * Adds a number to the integer at a key.
   *
   * `INCRBY key increment`, since Redis 1.0.0. O(1).
   */
  incrby(key: Arg, increment: Arg): Promise<number>;
  /**
   * Adds a floating-point number to the number at a key.
   *
   * `INCRBYFLOAT key increment`, since Redis 2.6.0. O(1).
   */
  incrbyfloat(key: Arg, increment: Arg): Promise<Text>;
  /**
   * Finds the longest common subsequence of two strings.
   *
   * `LCS key1 key2 [LEN] [IDX] [MINMATCHLEN len] [WITHMATCHLEN]`, since Redis 7.0.0. O(N*M), N and M: bytes of the two strings.
   */
  lcs(key1: Arg, key2: Arg, ...more: Args): Promise<Text | number | MapOf<Text, number | (([number, number] | number)[])[]>>;
  /**
   * Returns the strings at several keys, nil where there is none.
   *
   * `MGET key [key ...]`, since Redis 1.0.0. O(N), N: keys.
   */
  mget(...keys: Args): Promise<(Text | null)[]>;
  /**
   * Sets several strings at once.
   *
   * `MSET key value [key value ...]`, since Redis 1.0.1. O(N), N: keys.
   */
  mset(...more: Args): Promise<'OK'>;
  /**
   * Sets several strings at once, provided that none of the keys exists.
   *
   * `MSETNX key value [key value ...]`, since Redis 1.0.1. O(N), N: keys.
   */
  msetnx(...more: Args): Promise<0 | 1>;
  /**
   * Sets a string that expires after a number of milliseconds.
   *
   * `PSETEX key milliseconds value`, since Redis 2.6.0. O(1).
   *
   * @deprecated since 2.6.12: `SET` with the `PX` argument.
   */
  psetex(key: Arg, milliseconds: Arg, value: Arg): Promise<'OK'>;
  /**
   * Sets a string, with conditions and an expiry if wanted.
   *
   * `SET key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL]`, since Redis 1.0.0. O(1).
   */
  set(key: Arg, value: Arg, ...more: Args): Promise<'OK' | null | Text>;
  /**
   * Sets a string that expires after a number of seconds.
   *
   * `SETEX key seconds value`, since Redis 2.0.0. O(1).
   *
   * @deprecated since 2.6.12: `SET` with the `EX` argument.
   */
  setex(key: Arg, seconds: Arg, value: Arg): Promise<'OK'>;
  /**
   * Sets a string, provided that the key does not exist.
   *
   * `SETNX key value`, since Redis 1.0.0. O(1).
   *
   * @deprecated since 2.6.12: `SET` with the `NX` argument.
   */
  setnx(key: Arg, value: Arg): Promise<0 | 1>;
  /**
   * Overwrites a string from an offset on, padding with zero bytes as needed.
   *
   * `SETRANGE key offset value`, since Redis 2.2.0. O(N), N: bytes of the new string.
   */
  setrange(key: Arg, offset: Arg, value: Arg): Promise<number>;
  /**
   * Tells the length of a string in bytes.
   *
   * `STRLEN key`, since Redis 2.2.0. O(1).
   */
  strlen(key: Arg): Promise<number>;
  /**
   * Returns a part of a string under the name this had before GETRANGE.
   *
   * `SUBSTR key start end`, since Redis 1.0.0. O(N), N: bytes returned.
   *
   * @deprecated since 2.0.0: `GETRANGE`.
   */
  substr(key: Arg, start: Arg, end: Arg): Promise<Text>;
  /**
   * Counts the bits that are set in a string or in a range of it.
   *
   * `BITCOUNT key [start end [BYTE | BIT]]`, since Redis 2.6.0. O(N), N: bytes of the range.
   */
  bitcount(key: Arg, ...more: Args): Promise<number>;
  /**
   * Reads, sets and increments integers of any width at any bit of a string.
   *
   * `BITFIELD key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET encoding offset value | INCRBY encoding offset increment> ...]]`, since Redis 3.2.0. O(1) for each operation.
   */
  bitfield(key: Arg, ...more: Args): Promise<number[] | (number | null)[]>;
  /**
   * Reads integers of any width at any bit of a string.
   *
   * `BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]`, since Redis 6.0.0. O(1) for each operation.
   */
  bitfieldRo(key: Arg, ...more: Args): Promise<number[]>;
  /**
   * Combines strings bit by bit (AND, OR, XOR, NOT) and stores the result.
   *
   * `BITOP <AND | OR | XOR | NOT> destkey key [key ...]`, since Redis 2.6.0. O(N), N: bytes of all strings.
   */
  bitop(...more: Args): Promise<number>;
  /**
   * Finds the first bit that is set, or clear, in a string or in a range of it.
   *
   * `BITPOS key bit [start [end [BYTE | BIT]]]`, since Redis 2.8.7. O(N), N: bytes of the range.
   */
  bitpos(key: Arg, bit: Arg, ...more: Args): Promise<number>;
  /**
   * Returns a bit of a string.
   *
   * `GETBIT key offset`, since Redis 2.2.0. O(1).
   */
  getbit(key: Arg, offset: Arg): Promise<0 | 1>;
  /**
   * Sets or clears a bit of a string and returns what it was, padding with zero bytes as needed.
   *
   * `SETBIT key offset value`, since Redis 2.2.0. O(1).
   */
  setbit(key: Arg, offset: Arg, value: Arg): Promise<0 | 1>;
  /**
   * Deletes fields of a hash, and the hash with its last field.
   *
   * `HDEL key field [field ...]`, since Redis 2.0.0. O(N), N: fields.
   */
  hdel(key: Arg, ...fields: Args): Promise<number>;
  /**
   * Tells whether a hash has a field.
   *
   * `HEXISTS key field`, since Redis 2.0.0. O(1).
   */
  hexists(key: Arg, field: Arg): Promise<0 | 1>;
  /**
   * Returns the value of a field.
   *
   * `HGET key field`, since Redis 2.0.0. O(1).
   */
  hget(key: Arg, field: Arg): Promise<Text | null>;
  /**
   * Returns all fields of a hash with their values.
   *
   * `HGETALL key`, since Redis 2.0.0. O(N), N: fields of the hash.
   */
  hgetall(key: Arg): Promise<MapOf<Text, Text>>;
  /**
   * Adds a number to the integer in a field.
   *
   * `HINCRBY key field increment`, since Redis 2.0.0. O(1).
   */
  hincrby(key: Arg, field: Arg, increment: Arg): Promise<number>;
  /**
   * Adds a floating-point number to the number in a field.
   *
   * `HINCRBYFLOAT key field increment`, since Redis 2.6.0. O(1).
   */
  hincrbyfloat(key: Arg, field: Arg, increment: Arg): Promise<Text>;
  /**
   * Returns the names of all fields.
   *
   * `HKEYS key`, since Redis 2.0.0. O(N), N: fields of the hash.
   */
  hkeys(key: Arg): Promise<Text[]>;
  /**
   * Counts the fields of a hash.
   *
   * `HLEN key`, since Redis 2.0.0. O(1).
   */
  hlen(key: Arg): Promise<number>;
  /**
   * Returns the values of several fields, nil where there is none.
   *
   * `HMGET key field [field ...]`, since Redis 2.0.0. O(N), N: fields asked for.
   */
  hmget(key: Arg, ...fields: Args): Promise<(Text | null)[]>;
  /**
   * Sets several fields and answers OK.
   *
   * `HMSET key field value [field value ...]`, since Redis 2.0.0. O(N), N: fields.
   *
   * @deprecated since 4.0.0: `HSET` with multiple field-value pairs.
   */
  hmset(key: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Picks random fields of a hash, with their values if wanted.
   *
   * `HRANDFIELD key [count [WITHVALUES]]`, since Redis 6.2.0. O(N), N: fields returned.
   */
  hrandfield(key: Arg, ...more: Args): Promise<Text | null | Text[] | [Text, Text][]>;
  /**
   * Walks through the fields of a hash with a cursor.
   *
   * `HSCAN key cursor [MATCH pattern] [COUNT count]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: fields of the hash.
   */
  hscan(key: Arg, cursor: Arg, ...more: Args): Promise<[Text, Text[]]>;
  /**
   * Sets fields of a hash and counts the new ones.
   *
   * `HSET key field value [field value ...]`, since Redis 2.0.0. O(N), N: fields set.
   */
  hset(key: Arg, ...more: Args): Promise<number>;
  /**
   * Sets a field, provided that the hash does not have it.
   *
   * `HSETNX key field value`, since Redis 2.0.0. O(1).
   */
  hsetnx(key: Arg, field: Arg, value: Arg): Promise<0 | 1>;
  /**
   * Tells the length of a field's value in bytes.
   *
   * `HSTRLEN key field`, since Redis 3.2.0. O(1).
   */
  hstrlen(key: Arg, field: Arg): Promise<number>;
  /**
   * Returns the values of all fields.
   *
   * `HVALS key`, since Redis 2.0.0. O(N), N: fields of the hash.
   */
  hvals(key: Arg): Promise<Text[]>;
  /**
   * Moves an element as LMOVE does, and waits for one if the list is empty.
   *
   * `BLMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT> timeout`, since Redis 6.2.0. O(1).
   */
  blmove(source: Arg, destination: Arg, ...more: Args): Promise<Text | null>;
  /**
   * Takes elements as LMPOP does, and waits for some if all lists are empty.
   *
   * `BLMPOP timeout numkeys key [key ...] <LEFT | RIGHT> [COUNT count]`, since Redis 7.0.0. O(N+M), N: keys, M: elements returned.
   */
  blmpop(timeout: Arg, numkeys: Arg, ...more: Args): Promise<[Text, Text[]] | null>;
  /**
   * Takes the head of the first of several lists that is not empty, and waits for one if all are.
   *
   * `BLPOP key [key ...] timeout`, since Redis 2.0.0. O(N), N: keys.
   */
  blpop(...more: Args): Promise<[Text, Text] | null>;
  /**
   * Takes the tail of the first of several lists that is not empty, and waits for one if all are.
   *
   * `BRPOP key [key ...] timeout`, since Redis 2.0.0. O(N), N: keys.
   */
  brpop(...more: Args): Promise<[Text, Text] | null>;
  /**
   * Moves an element as RPOPLPUSH does, and waits for one if the list is empty.
   *
   * `BRPOPLPUSH source destination timeout`, since Redis 2.2.0. O(1).
   *
   * @deprecated since 6.2.0: `BLMOVE` with the `RIGHT` and `LEFT` arguments.
   */
  brpoplpush(source: Arg, destination: Arg, timeout: Arg): Promise<Text | null>;
  /**
   * Returns the element at an index; negative indexes count from the tail.
   *
   * `LINDEX key index`, since Redis 1.0.0. O(N), N: elements between the index and the nearer end.
   */
  lindex(key: Arg, index: Arg): Promise<Text | null>;
  /**
   * Inserts an element before or after the first one equal to the pivot.
   *
   * `LINSERT key <BEFORE | AFTER> pivot element`, since Redis 2.2.0. O(N), N: elements before the pivot.
   */
  linsert(key: Arg, ...more: Args): Promise<number>;
  /**
   * Counts the elements of a list.
   *
   * `LLEN key`, since Redis 1.0.0. O(1).
   */
  llen(key: Arg): Promise<number>;
  /**
   * Takes an element from one end of a list and puts it at an end of another.
   *
   * `LMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT>`, since Redis 6.2.0. O(1).
   */
  lmove(source: Arg, destination: Arg, ...more: Args): Promise<Text | null>;
  /**
   * Takes elements from the first of several lists that is not empty.
   *
   * `LMPOP numkeys key [key ...] <LEFT | RIGHT> [COUNT count]`, since Redis 7.0.0. O(N+M), N: keys, M: elements returned.
   */
  lmpop(numkeys: Arg, ...more: Args): Promise<[Text, Text[]] | null>;
  /**
   * Takes elements from the head of a list.
   *
   * `LPOP key [count]`, since Redis 1.0.0. O(N), N: elements returned.
   */
  lpop(key: Arg, ...more: Args): Promise<Text | null | Text[]>;
  /**
   * Finds the indexes of the elements equal to a value.
   *
   * `LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]`, since Redis 6.0.6. O(N), N: elements compared.
   */
  lpos(key: Arg, element: Arg, ...more: Args): Promise<number | null | number[]>;
  /**
   * Puts elements at the head of a list, creating it when there is none.
   *
   * `LPUSH key element [element ...]`, since Redis 1.0.0. O(N), N: elements added.
   */
  lpush(key: Arg, ...elements: Args): Promise<number>;
  /**
   * Puts elements at the head of a list that exists already.
   *
   * `LPUSHX key element [element ...]`, since Redis 2.2.0. O(N), N: elements added.
   */
  lpushx(key: Arg, ...elements: Args): Promise<number>;
  /**
   * Returns the elements of a range, bounds included.
   *
   * `LRANGE key start stop`, since Redis 1.0.0. O(S+N), S: elements between the range and the nearer end, N: elements returned.
   */
  lrange(key: Arg, start: Arg, stop: Arg): Promise<Text[]>;
  /**
   * Removes elements equal to a value, from the head, from the tail or all.
   *
   * `LREM key count element`, since Redis 1.0.0. O(N+M), N: elements of the list, M: elements removed.
   */
  lrem(key: Arg, count: Arg, element: Arg): Promise<number>;
  /**
   * Replaces the element at an index.
   *
   * `LSET key index element`, since Redis 1.0.0. O(N), N: elements between the index and the nearer end.
   */
  lset(key: Arg, index: Arg, element: Arg): Promise<'OK'>;
  /**
   * Keeps only the elements of a range.
   *
   * `LTRIM key start stop`, since Redis 1.0.0. O(N), N: elements removed.
   */
  ltrim(key: Arg, start: Arg, stop: Arg): Promise<'OK'>;
  /**
   * Takes elements from the tail of a list.
   *
   * `RPOP key [count]`, since Redis 1.0.0. O(N), N: elements returned.
   */
  rpop(key: Arg, ...more: Args): Promise<Text | null | Text[]>;
  /**
   * Takes an element from the tail of a list and puts it at the head of another.
   *
   * `RPOPLPUSH source destination`, since Redis 1.2.0. O(1).
   *
   * @deprecated since 6.2.0: `LMOVE` with the `RIGHT` and `LEFT` arguments.
   */
  rpoplpush(source: Arg, destination: Arg): Promise<Text | null>;
  /**
   * Puts elements at the tail of a list, creating it when there is none.
   *
   * `RPUSH key element [element ...]`, since Redis 1.0.0. O(N), N: elements added.
   */
  rpush(key: Arg, ...elements: Args): Promise<number>;
  /**
   * Puts elements at the tail of a list that exists already.
   *
   * `RPUSHX key element [element ...]`, since Redis 2.2.0. O(N), N: elements added.
   */
  rpushx(key: Arg, ...elements: Args): Promise<number>;
  /**
   * Adds members to a set and counts the new ones.
   *
   * `SADD key member [member ...]`, since Redis 1.0.0. O(N), N: members named.
   */
  sadd(key: Arg, ...members: Args): Promise<number>;
  /**
   * Counts the members of a set.
   *
   * `SCARD key`, since Redis 1.0.0. O(1).
   */
  scard(key: Arg): Promise<number>;
  /**
   * Returns the members of the first set that no other set has.
   *
   * `SDIFF key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
   */
  sdiff(...keys: Args): Promise<Text[]>;
  /**
   * Stores the members of the first set that no other set has.
   *
   * `SDIFFSTORE destination key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
   */
  sdiffstore(destination: Arg, ...keys: Args): Promise<number>;
  /**
   * Returns the members that all sets have.
   *
   * `SINTER key [key ...]`, since Redis 1.0.0. O(N*M), N: members of the smallest set, M: sets.
   */
  sinter(...keys: Args): Promise<Text[]>;
  /**
   * Counts the members that all sets have, up to a limit if wanted.
   *
   * `SINTERCARD numkeys key [key ...] [LIMIT limit]`, since Redis 7.0.0. O(N*M), N: members of the smallest set, M: sets.
   */
  sintercard(numkeys: Arg, ...more: Args): Promise<number>;
  /**
   * Stores the members that all sets have.
   *
   * `SINTERSTORE destination key [key ...]`, since Redis 1.0.0. O(N*M), N: members of the smallest set, M: sets.
   */
  sinterstore(destination: Arg, ...keys: Args): Promise<number>;
  /**
   * Tells whether a set has a member.
   *
   * `SISMEMBER key member`, since Redis 1.0.0. O(1).
   */
  sismember(key: Arg, member: Arg): Promise<0 | 1>;
  /**
   * Returns all members of a set.
   *
   * `SMEMBERS key`, since Redis 1.0.0. O(N), N: members of the set.
   */
  smembers(key: Arg): Promise<Text[]>;
  /**
   * Tells for each of several members whether a set has it.
   *
   * `SMISMEMBER key member [member ...]`, since Redis 6.2.0. O(N), N: members named.
   */
  smismember(key: Arg, ...members: Args): Promise<(0 | 1)[]>;
  /**
   * Moves a member from one set to another.
   *
   * `SMOVE source destination member`, since Redis 1.0.0. O(1).
   */
  smove(source: Arg, destination: Arg, member: Arg): Promise<0 | 1>;
  /**
   * Takes random members out of a set.
   *
   * `SPOP key [count]`, since Redis 1.0.0. O(N), N: members returned.
   */
  spop(key: Arg, ...more: Args): Promise<Text | null | Text[]>;
  /**
   * Picks random members of a set.
   *
   * `SRANDMEMBER key [count]`, since Redis 1.0.0. O(N), N: members returned.
   */
  srandmember(key: Arg, ...more: Args): Promise<Text | null | Text[]>;
  /**
   * Removes members from a set and counts them.
   *
   * `SREM key member [member ...]`, since Redis 1.0.0. O(N), N: members named.
   */
  srem(key: Arg, ...members: Args): Promise<number>;
  /**
   * Walks through the members of a set with a cursor.
   *
   * `SSCAN key cursor [MATCH pattern] [COUNT count]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: members of the set.
   */
  sscan(key: Arg, cursor: Arg, ...more: Args): Promise<[Text, Text[]]>;
  /**
   * Returns the members that some set has.
   *
   * `SUNION key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
   */
  sunion(...keys: Args): Promise<Text[]>;
  /**
   * Stores the members that some set has.
   *
   * `SUNIONSTORE destination key [key ...]`, since Redis 1.0.0. O(N), N: members of all sets.
   */
  sunionstore(destination: Arg, ...keys: Args): Promise<number>;
  /**
   * Takes members as ZMPOP does, and waits for some if all sorted sets are empty.
   *
   * `BZMPOP timeout numkeys key [key ...] <MIN | MAX> [COUNT count]`, since Redis 7.0.0. O(K+M*log(N)), K: keys, M: members returned, N: members of the set.
   */
  bzmpop(timeout: Arg, numkeys: Arg, ...more: Args): Promise<[Text, [Text, number][]] | null>;
  /**
   * Takes the highest member of the first of several sorted sets, and waits for one if all are empty.
   *
   * `BZPOPMAX key [key ...] timeout`, since Redis 5.0.0. O(log(N)), N: members.
   */
  bzpopmax(...more: Args): Promise<[Text, Text, number] | null>;
  /**
   * Takes the lowest member of the first of several sorted sets, and waits for one if all are empty.
   *
   * `BZPOPMIN key [key ...] timeout`, since Redis 5.0.0. O(log(N)), N: members.
   */
  bzpopmin(...more: Args): Promise<[Text, Text, number] | null>;
  /**
   * Adds members with scores, or changes the scores of members.
   *
   * `ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]`, since Redis 1.2.0. O(log(N)) for each member, N: members of the sorted set.
   */
  zadd(key: Arg, ...more: Args): Promise<number | null>;
  /**
   * Counts the members of a sorted set.
   *
   * `ZCARD key`, since Redis 1.2.0. O(1).
   */
  zcard(key: Arg): Promise<number>;
  /**
   * Counts the members with scores in a range.
   *
   * `ZCOUNT key min max`, since Redis 2.0.0. O(log(N)), N: members of the sorted set.
   */
  zcount(key: Arg, min: Arg, max: Arg): Promise<number>;
  /**
   * Returns the members of the first sorted set that no other has.
   *
   * `ZDIFF numkeys key [key ...] [WITHSCORES]`, since Redis 6.2.0. O(L+(N-K)*log(N)), L: members of all sets, N: of the first, K: of the result.
   */
  zdiff(numkeys: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Stores the members of the first sorted set that no other has.
   *
   * `ZDIFFSTORE destination numkeys key [key ...]`, since Redis 6.2.0. O(L+(N-K)*log(N)), L: members of all sets, N: of the first, K: of the result.
   */
  zdiffstore(destination: Arg, numkeys: Arg, ...keys: Args): Promise<number>;
  /**
   * Adds a number to the score of a member.
   *
   * `ZINCRBY key increment member`, since Redis 1.2.0. O(log(N)), N: members of the sorted set.
   */
  zincrby(key: Arg, increment: Arg, member: Arg): Promise<number>;
  /**
   * Returns the members that all sorted sets have, with combined scores.
   *
   * `ZINTER numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]`, since Redis 6.2.0. O(N*K+M*log(M)), N: members of the smallest set, K: sets, M: members of the result.
   */
  zinter(numkeys: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Counts the members that all sorted sets have, up to a limit if wanted.
   *
   * `ZINTERCARD numkeys key [key ...] [LIMIT limit]`, since Redis 7.0.0. O(N*K), N: members of the smallest set, K: sets.
   */
  zintercard(numkeys: Arg, ...more: Args): Promise<number>;
  /**
   * Stores the members that all sorted sets have, with combined scores.
   *
   * `ZINTERSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]`, since Redis 2.0.0. O(N*K+M*log(M)), N: members of the smallest set, K: sets, M: members of the result.
   */
  zinterstore(destination: Arg, numkeys: Arg, ...more: Args): Promise<number>;
  /**
   * Counts the members in an alphabetic range.
   *
   * `ZLEXCOUNT key min max`, since Redis 2.8.9. O(log(N)), N: members of the sorted set.
   */
  zlexcount(key: Arg, min: Arg, max: Arg): Promise<number>;
  /**
   * Takes members with the lowest or highest scores from the first sorted set that is not empty.
   *
   * `ZMPOP numkeys key [key ...] <MIN | MAX> [COUNT count]`, since Redis 7.0.0. O(K+M*log(N)), K: keys, N: members of the sorted set, M: members returned.
   */
  zmpop(numkeys: Arg, ...more: Args): Promise<[Text, [Text, number][]] | null>;
  /**
   * Returns the scores of several members, nil where there is none.
   *
   * `ZMSCORE key member [member ...]`, since Redis 6.2.0. O(N), N: members named.
   */
  zmscore(key: Arg, ...members: Args): Promise<(number | null)[]>;
  /**
   * Takes the members with the highest scores.
   *
   * `ZPOPMAX key [count]`, since Redis 5.0.0. O(M*log(N)), N: members of the sorted set, M: members returned.
   */
  zpopmax(key: Arg, ...more: Args): Promise<[Text, number] | [] | [Text, number][]>;
  /**
   * Takes the members with the lowest scores.
   *
   * `ZPOPMIN key [count]`, since Redis 5.0.0. O(M*log(N)), N: members of the sorted set, M: members returned.
   */
  zpopmin(key: Arg, ...more: Args): Promise<[Text, number] | [] | [Text, number][]>;
  /**
   * Picks random members, with their scores if wanted.
   *
   * `ZRANDMEMBER key [count [WITHSCORES]]`, since Redis 6.2.0. O(N), N: members returned.
   */
  zrandmember(key: Arg, ...more: Args): Promise<Text | null | Text[] | [Text, number][]>;
  /**
   * Returns the members of a range of ranks, scores or names, in either direction.
   *
   * `ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]`, since Redis 1.2.0. O(log(N)+M), N: members of the sorted set, M: members returned.
   */
  zrange(key: Arg, start: Arg, stop: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Returns the members of an alphabetic range.
   *
   * `ZRANGEBYLEX key min max [LIMIT offset count]`, since Redis 2.8.9. O(log(N)+M), N: members of the sorted set, M: members returned.
   *
   * @deprecated since 6.2.0: `ZRANGE` with the `BYLEX` argument.
   */
  zrangebylex(key: Arg, min: Arg, max: Arg, ...more: Args): Promise<Text[]>;
  /**
   * Returns the members with scores in a range.
   *
   * `ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count]`, since Redis 1.0.5. O(log(N)+M), N: members of the sorted set, M: members returned.
   *
   * @deprecated since 6.2.0: `ZRANGE` with the `BYSCORE` argument.
   */
  zrangebyscore(key: Arg, min: Arg, max: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Stores the members of a range of ranks, scores or names.
   *
   * `ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]`, since Redis 6.2.0. O(log(N)+M), N: members of the source, M: members stored.
   */
  zrangestore(dst: Arg, src: Arg, min: Arg, max: Arg, ...more: Args): Promise<number>;
  /**
   * Tells the rank of a member, lowest score first.
   *
   * `ZRANK key member [WITHSCORE]`, since Redis 2.0.0. O(log(N)), N: members of the sorted set.
   */
  zrank(key: Arg, member: Arg, ...more: Args): Promise<number | null | [number, number]>;
  /**
   * Removes members and counts them.
   *
   * `ZREM key member [member ...]`, since Redis 1.2.0. O(M*log(N)), N: members of the sorted set, M: members named.
   */
  zrem(key: Arg, ...members: Args): Promise<number>;
  /**
   * Removes the members of an alphabetic range.
   *
   * `ZREMRANGEBYLEX key min max`, since Redis 2.8.9. O(log(N)+M), N: members of the sorted set, M: members removed.
   */
  zremrangebylex(key: Arg, min: Arg, max: Arg): Promise<number>;
  /**
   * Removes the members of a range of ranks.
   *
   * `ZREMRANGEBYRANK key start stop`, since Redis 2.0.0. O(log(N)+M), N: members of the sorted set, M: members removed.
   */
  zremrangebyrank(key: Arg, start: Arg, stop: Arg): Promise<number>;
  /**
   * Removes the members with scores in a range.
   *
   * `ZREMRANGEBYSCORE key min max`, since Redis 1.2.0. O(log(N)+M), N: members of the sorted set, M: members removed.
   */
  zremrangebyscore(key: Arg, min: Arg, max: Arg): Promise<number>;
  /**
   * Returns the members of a range of ranks, highest score first.
   *
   * `ZREVRANGE key start stop [WITHSCORES]`, since Redis 1.2.0. O(log(N)+M), N: members of the sorted set, M: members returned.
   *
   * @deprecated since 6.2.0: `ZRANGE` with the `REV` argument.
   */
  zrevrange(key: Arg, start: Arg, stop: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Returns the members of an alphabetic range, last one first.
   *
   * `ZREVRANGEBYLEX key max min [LIMIT offset count]`, since Redis 2.8.9. O(log(N)+M), N: members of the sorted set, M: members returned.
   *
   * @deprecated since 6.2.0: `ZRANGE` with the `REV` and `BYLEX` arguments.
   */
  zrevrangebylex(key: Arg, max: Arg, min: Arg, ...more: Args): Promise<Text[]>;
  /**
   * Returns the members with scores in a range, highest score first.
   *
   * `ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count]`, since Redis 2.2.0. O(log(N)+M), N: members of the sorted set, M: members returned.
   *
   * @deprecated since 6.2.0: `ZRANGE` with the `REV` and `BYSCORE` arguments.
   */
  zrevrangebyscore(key: Arg, max: Arg, min: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Tells the rank of a member, highest score first.
   *
   * `ZREVRANK key member [WITHSCORE]`, since Redis 2.0.0. O(log(N)), N: members of the sorted set.
   */
  zrevrank(key: Arg, member: Arg, ...more: Args): Promise<number | null | [number, number]>;
  /**
   * Walks through members and scores with a cursor.
   *
   * `ZSCAN key cursor [MATCH pattern] [COUNT count]`, since Redis 2.8.0. O(1) for each call, O(N) for a full round, N: members of the sorted set.
   */
  zscan(key: Arg, cursor: Arg, ...more: Args): Promise<[Text, Text[]]>;
  /**
   * Returns the score of a member.
   *
   * `ZSCORE key member`, since Redis 1.2.0. O(1).
   */
  zscore(key: Arg, member: Arg): Promise<number | null>;
  /**
   * Returns the members that some sorted set has, with combined scores.
   *
   * `ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]`, since Redis 6.2.0. O(N+M*log(M)), N: members of all sets, M: members of the result.
   */
  zunion(numkeys: Arg, ...more: Args): Promise<Text[] | [Text, number][]>;
  /**
   * Stores the members that some sorted set has, with combined scores.
   *
   * `ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]`, since Redis 2.0.0. O(N+M*log(M)), N: members of all sets, M: members of the result.
   */
  zunionstore(destination: Arg, numkeys: Arg, ...more: Args): Promise<number>;
  /**
   * Adds elements to a sketch and tells whether its estimate may have changed.
   *
   * `PFADD key [element [element ...]]`, since Redis 2.8.9. O(N), N: elements named.
   */
  pfadd(key: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Estimates how many different elements were added to sketches.
   *
   * `PFCOUNT key [key ...]`, since Redis 2.8.9. O(1) for one key, O(N) for N keys, each costing more than one alone.
   */
  pfcount(...keys: Args): Promise<number>;
  /**
   * Shows or changes how a sketch is stored: GETREG, DECODE, ENCODING, TODENSE.
   *
   * `PFDEBUG subcommand key`, since Redis 2.8.9. O(1), a sketch being of bounded size.
   */
  pfdebug(subcommand: Arg, key: Arg): Promise<Reply<Text>>;
  /**
   * Adds to a sketch what was added to others.
   *
   * `PFMERGE destkey [sourcekey [sourcekey ...]]`, since Redis 2.8.9. O(N), N: sketches.
   */
  pfmerge(destkey: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Tests that sketches keep what they are given and estimate well.
   *
   * `PFSELFTEST`, since Redis 2.8.9. O(1).
   */
  pfselftest(): Promise<'OK'>;
  /**
   * Sends a message to all who listen to a channel.
   *
   * `PUBLISH channel message`, since Redis 2.0.0. O(N+M), N: listeners of the channel, M: patterns anybody listens to.
   */
  publish(channel: Arg, message: Arg): Promise<number>;
  /**
   * Sends a message to all who listen to a shard channel.
   *
   * `SPUBLISH shardchannel message`, since Redis 7.0.0. O(N), N: listeners of the shard channel.
   */
  spublish(shardchannel: Arg, message: Arg): Promise<number>;
  /**
   * Acknowledges entries, which are then no longer pending in the group.
   *
   * `XACK key group id [id ...]`, since Redis 5.0.0. O(log(N)) for each id, N: pending entries of the group.
   */
  xack(key: Arg, group: Arg, ...ids: Args): Promise<number>;
  /**
   * Adds an entry at the end of a stream, and may trim the beginning.
   *
   * `XADD key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] <* | id> field value [field value ...]`, since Redis 5.0.0. O(log(N)), N: entries of the stream; O(M*log(N)) with M entries trimmed.
   */
  xadd(key: Arg, ...more: Args): Promise<Text | null>;
  /**
   * Gives pending entries that nobody has worked on for a while to a consumer.
   *
   * `XAUTOCLAIM key group consumer min-idle-time start [COUNT count] [JUSTID]`, since Redis 6.2.0. O(M*log(N)), N: pending entries of the group, M: entries looked at.
   */
  xautoclaim(key: Arg, group: Arg, consumer: Arg, minIdleTime: Arg, start: Arg, ...more: Args): Promise<[Text, ([Text, Text[] | null])[], Text[]] | [Text, Text[], Text[]]>;
  /**
   * Gives pending entries to another consumer.
   *
   * `XCLAIM key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]`, since Redis 5.0.0. O(log(N)) for each id, N: pending entries of the group.
   */
  xclaim(key: Arg, group: Arg, consumer: Arg, minIdleTime: Arg, ...more: Args): Promise<([Text, Text[] | null])[] | Text[]>;
  /**
   * Deletes entries by their ids and counts those that were there.
   *
   * `XDEL key id [id ...]`, since Redis 5.0.0. O(log(N)) for each id, N: entries of the stream.
   */
  xdel(key: Arg, ...ids: Args): Promise<number>;
  /**
   * Counts the entries of a stream.
   *
   * `XLEN key`, since Redis 5.0.0. O(log(N)), N: entries of the stream.
   */
  xlen(key: Arg): Promise<number>;
  /**
   * Tells what was delivered by way of a group and not acknowledged.
   *
   * `XPENDING key group [[IDLE min-idle-time] start end count [consumer]]`, since Redis 5.0.0. O(log(N)+M), N: pending entries of the group, M: entries looked at, or consumers.
   */
  xpending(key: Arg, group: Arg, ...more: Args): Promise<[number, Text | null, Text | null, [Text, Text][] | null] | [Text, Text, number, number][]>;
  /**
   * Returns the entries of a range of ids.
   *
   * `XRANGE key start end [COUNT count]`, since Redis 5.0.0. O(log(N)+M), N: entries of the stream, M: entries returned.
   */
  xrange(key: Arg, start: Arg, end: Arg, ...more: Args): Promise<([Text, Text[] | null])[] | null>;
  /**
   * Returns the entries behind given ids of several streams.
   *
   * `XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]`, since Redis 5.0.0. O(log(N)+M) for each stream, N: entries of the stream, M: entries returned.
   */
  xread(...more: Args): Promise<MapOf<Text, ([Text, Text[] | null])[]> | null>;
  /**
   * Returns entries that no consumer of a group got yet, or those pending for a consumer.
   *
   * `XREADGROUP GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]`, since Redis 5.0.0. O(M*log(N)) for each stream, N: entries of the stream, M: entries returned.
   */
  xreadgroup(...more: Args): Promise<MapOf<Text, ([Text, Text[] | null])[]> | null>;
  /**
   * Returns the entries of a range of ids, the last first.
   *
   * `XREVRANGE key end start [COUNT count]`, since Redis 5.0.0. O(log(N)+M), N: entries of the stream, M: entries returned.
   */
  xrevrange(key: Arg, end: Arg, start: Arg, ...more: Args): Promise<([Text, Text[] | null])[] | null>;
  /**
   * Sets the last id of a stream and what it counts.
   *
   * `XSETID key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]`, since Redis 5.0.0. O(log(N)), N: entries of the stream.
   */
  xsetid(key: Arg, lastId: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Deletes the oldest entries of a stream.
   *
   * `XTRIM key <MAXLEN | MINID> [= | ~] threshold [LIMIT count]`, since Redis 5.0.0. O(M*log(N)), N: entries of the stream, M: entries trimmed.
   */
  xtrim(key: Arg, ...more: Args): Promise<number>;
  /**
   * Adds members with positions, or changes the positions of members.
   *
   * `GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]`, since Redis 3.2.0. O(log(N)) for each member, N: members of the sorted set.
   */
  geoadd(key: Arg, ...more: Args): Promise<number>;
  /**
   * Tells how far two members are from each other.
   *
   * `GEODIST key member1 member2 [M | KM | FT | MI]`, since Redis 3.2.0. O(1).
   */
  geodist(key: Arg, member1: Arg, member2: Arg, ...more: Args): Promise<Text | null>;
  /**
   * Returns the positions of members as geohashes of eleven letters.
   *
   * `GEOHASH key [member [member ...]]`, since Redis 3.2.0. O(1) for each member.
   */
  geohash(key: Arg, ...more: Args): Promise<(Text | null)[]>;
  /**
   * Returns longitudes and latitudes of members, nil where there is none.
   *
   * `GEOPOS key [member [member ...]]`, since Redis 3.2.0. O(1) for each member.
   */
  geopos(key: Arg, ...more: Args): Promise<([number, number] | null)[]>;
  /**
   * Returns or stores the members within a circle around a position.
   *
   * `GEORADIUS key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]`, since Redis 3.2.0. O(N+log(M)), N: members near the circle, M: members of the sorted set.
   *
   * @deprecated since 6.2.0: `GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument.
   */
  georadius(key: Arg, longitude: Arg, latitude: Arg, radius: Arg, ...more: Args): Promise<Text[] | [Text, Text][] | [Text, number][] | [Text, [number, number]][] | [Text, Text, number][] | [Text, Text, [number, number]][] | [Text, number, [number, number]][] | [Text, Text, number, [number, number]][] | number>;
  /**
   * Returns the members within a circle around a position.
   *
   * `GEORADIUS_RO key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]`, since Redis 3.2.10. O(N+log(M)), N: members near the circle, M: members of the sorted set.
   *
   * @deprecated since 6.2.0: `GEOSEARCH` with the `BYRADIUS` argument.
   */
  georadiusRo(key: Arg, longitude: Arg, latitude: Arg, radius: Arg, ...more: Args): Promise<Text[] | [Text, Text][] | [Text, number][] | [Text, [number, number]][] | [Text, Text, number][] | [Text, Text, [number, number]][] | [Text, number, [number, number]][] | [Text, Text, number, [number, number]][]>;
  /**
   * Returns or stores the members within a circle around one of them.
   *
   * `GEORADIUSBYMEMBER key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]`, since Redis 3.2.0. O(N+log(M)), N: members near the circle, M: members of the sorted set.
   *
   * @deprecated since 6.2.0: `GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments.
   */
  georadiusbymember(key: Arg, member: Arg, radius: Arg, ...more: Args): Promise<Text[] | [Text, Text][] | [Text, number][] | [Text, [number, number]][] | [Text, Text, number][] | [Text, Text, [number, number]][] | [Text, number, [number, number]][] | [Text, Text, number, [number, number]][] | number>;
  /**
   * Returns the members within a circle around one of them.
   *
   * `GEORADIUSBYMEMBER_RO key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]`, since Redis 3.2.10. O(N+log(M)), N: members near the circle, M: members of the sorted set.
   *
   * @deprecated since 6.2.0: `GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments.
   */
  georadiusbymemberRo(key: Arg, member: Arg, radius: Arg, ...more: Args): Promise<Text[] | [Text, Text][] | [Text, number][] | [Text, [number, number]][] | [Text, Text, number][] | [Text, Text, [number, number]][] | [Text, number, [number, number]][] | [Text, Text, number, [number, number]][]>;
  /**
   * Returns the members within a circle or a box.
   *
   * `GEOSEARCH key <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]`, since Redis 6.2.0. O(N+log(M)), N: members near the area, M: members of the sorted set.
   */
  geosearch(key: Arg, ...more: Args): Promise<Text[] | [Text, Text][] | [Text, number][] | [Text, [number, number]][] | [Text, Text, number][] | [Text, Text, [number, number]][] | [Text, number, [number, number]][] | [Text, Text, number, [number, number]][]>;
  /**
   * Stores the members within a circle or a box.
   *
   * `GEOSEARCHSTORE destination source <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]`, since Redis 6.2.0. O(N+log(M)), N: members near the area, M: members of the sorted set.
   */
  geosearchstore(destination: Arg, source: Arg, ...more: Args): Promise<number>;
  /**
   * Runs a script in Lua, with all of its commands as one.
   *
   * `EVAL script numkeys [key [key ...]] [arg [arg ...]]`, since Redis 2.6.0. that of the script.
   */
  eval(script: Arg, numkeys: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Runs a script that only reads.
   *
   * `EVAL_RO script numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the script.
   */
  evalRo(script: Arg, numkeys: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Runs a script that the server has, by its SHA-1.
   *
   * `EVALSHA sha1 numkeys [key [key ...]] [arg [arg ...]]`, since Redis 2.6.0. that of the script.
   */
  evalsha(sha1: Arg, numkeys: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Runs a script that only reads and that the server has, by its SHA-1.
   *
   * `EVALSHA_RO sha1 numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the script.
   */
  evalshaRo(sha1: Arg, numkeys: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Calls a function of a library, with all of its commands as one.
   *
   * `FCALL function numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the function.
   */
  fcall(function_: Arg, numkeys: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Calls a function of a library that only reads.
   *
   * `FCALL_RO function numkeys [key [key ...]] [arg [arg ...]]`, since Redis 7.0.0. that of the function.
   */
  fcallRo(function_: Arg, numkeys: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Stores each row of a table as a hash.
   *
   * `SQL.DENORM key table pattern`, since Redis 7.2.4. O(N), N: values of the table.
   */
  sqlDenorm(key: Arg, table: Arg, pattern: Arg): Promise<number>;
  /**
   * Returns columns, indexes, triggers and foreign keys of a table.
   *
   * `SQL.DESC key table`, since Redis 7.2.4. O(N), N: columns and indexes of the table.
   */
  sqlDesc(key: Arg, table: Arg): Promise<MapOf<Text, Reply<Text>>>;
  /**
   * Drops a prepared statement of a database.
   *
   * `SQL.DROPSTMT key name`, since Redis 7.2.4. O(1).
   */
  sqlDropstmt(key: Arg, name: Arg): Promise<0 | 1>;
  /**
   * Returns a database or a table as statements that make it again.
   *
   * `SQL.DUMP key [table] [TO <SQLITE | MYSQL>]`, since Redis 7.2.4. O(N), N: values of the database.
   */
  sqlDump(key: Arg, ...more: Args): Promise<Text>;
  /**
   * Runs statements of SQL on a database, and creates it with its first table.
   *
   * `SQL.EXEC key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
   */
  sqlExec(key: Arg, statement: Arg, ...more: Args): Promise<number | Reply<Text>[][]>;
  /**
   * Runs a prepared statement of a database.
   *
   * `SQL.EXECUTE key name [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
   */
  sqlExecute(key: Arg, name: Arg, ...more: Args): Promise<number | Reply<Text>[][]>;
  /**
   * Runs a prepared statement of a database that only reads.
   *
   * `SQL.EXECUTE_RO key name [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
   */
  sqlExecuteRo(key: Arg, name: Arg, ...more: Args): Promise<number | Reply<Text>[][]>;
  /**
   * Returns how a statement of SQL would find its rows.
   *
   * `SQL.EXPLAIN key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. O(1).
   */
  sqlExplain(key: Arg, statement: Arg, ...more: Args): Promise<Text[]>;
  /**
   * Runs a body of libSQL's protocol over HTTP, Hrana 2 or 3, and returns the body of the response.
   *
   * `SQL.HRANA key <PIPELINE | CURSOR> body`, since Redis 7.2.4. that of the statements.
   */
  sqlHrana(key: Arg, ...more: Args): Promise<Text>;
  /**
   * Makes tables of keys whose names have a common form.
   *
   * `SQL.NORM key pattern [secondary [secondary ...]]`, since Redis 7.2.4. O(N), N: keys of the database, and fields of those that match.
   */
  sqlNorm(key: Arg, pattern: Arg, ...more: Args): Promise<Text[]>;
  /**
   * Checks statements of SQL and stores them in a database under a name.
   *
   * `SQL.PREPARE key name statement`, since Redis 7.2.4. O(1).
   */
  sqlPrepare(key: Arg, name: Arg, statement: Arg): Promise<'OK'>;
  /**
   * Runs statements of SQL that only read.
   *
   * `SQL.QUERY key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement.
   */
  sqlQuery(key: Arg, statement: Arg, ...more: Args): Promise<number | Reply<Text>[][]>;
  /**
   * Runs many statements of SQL and returns how many rows they changed.
   *
   * `SQL.SCRIPT key script`, since Redis 7.2.4. that of the statements.
   */
  sqlScript(key: Arg, script: Arg): Promise<number>;
  /**
   * Returns numbers about a database, or about SQL in this server.
   *
   * `SQL.STATS [key]`, since Redis 7.2.4. O(1).
   */
  sqlStats(...more: Args): Promise<MapOf<Text, Text | number>>;
  /**
   * Runs a command of Redis for each row of a result.
   *
   * `SQL.STORE command arg [arg ...] key statement`, since Redis 7.2.4. that of the statement, and of the command for each row.
   */
  sqlStore(command: Arg, ...more: Args): Promise<number>;
  /**
   * Returns the tables and views of a database.
   *
   * `SQL.TABLES key`, since Redis 7.2.4. O(N), N: tables of the database.
   */
  sqlTables(key: Arg): Promise<Text[][]>;
  /**
   * Runs a statement of SQL whose words are the arguments on the default database.
   *
   * `SQL.WORDS word [word ...]`, since Redis 7.2.4. that of the statement.
   */
  sqlWords(...words: Args): Promise<Reply<Text>>;
  /**
   * The same for statements that only read.
   *
   * `SQL.WORDS_RO word [word ...]`, since Redis 7.2.4. that of the statement.
   */
  sqlWordsRo(...words: Args): Promise<Reply<Text>>;
  /**
   * Lists the indexes of the database.
   *
   * `FT._LIST`, since Redis 7.2.4. O(N), N: indexes.
   */
  ftList(): Promise<Text[]>;
  /**
   * Groups, sorts and computes over the documents that match a query.
   *
   * `FT.AGGREGATE index query [option [option ...]]`, since Redis 7.2.4. O(N), N: matching documents.
   */
  ftAggregate(index: Arg, query: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Gives an index another name.
   *
   * `FT.ALIASADD alias index`, since Redis 7.2.4. O(1).
   */
  ftAliasadd(alias: Arg, index: Arg): Promise<'OK'>;
  /**
   * Takes another name of an index away.
   *
   * `FT.ALIASDEL alias`, since Redis 7.2.4. O(1).
   */
  ftAliasdel(alias: Arg): Promise<'OK'>;
  /**
   * Gives an index another name, which another index may have had.
   *
   * `FT.ALIASUPDATE alias index`, since Redis 7.2.4. O(1).
   */
  ftAliasupdate(alias: Arg, index: Arg): Promise<'OK'>;
  /**
   * Adds fields to an index.
   *
   * `FT.ALTER index [SKIPINITIALSCAN] SCHEMA ADD field type [attribute [attribute ...]]`, since Redis 7.2.4. O(1), and O(N) in the background, N: keys of the database.
   */
  ftAlter(index: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Makes an index of hashes.
   *
   * `FT.CREATE index [option [option ...]] SCHEMA field type [attribute [attribute ...]]`, since Redis 7.2.4. O(1), and O(N) in the background, N: keys of the database.
   */
  ftCreate(index: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Deletes the hash that is a document of an index.
   *
   * `FT.DEL index document [DD]`, since Redis 7.2.4. O(1).
   */
  ftDel(index: Arg, document: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Adds terms to a dictionary.
   *
   * `FT.DICTADD dict term [term ...]`, since Redis 1.4.0. O(N log M), N: terms that are added, M: terms of the dictionary.
   */
  ftDictadd(dict: Arg, ...terms: Args): Promise<number>;
  /**
   * Removes terms from a dictionary.
   *
   * `FT.DICTDEL dict term [term ...]`, since Redis 1.4.0. O(N log M), N: terms that are removed, M: terms of the dictionary.
   */
  ftDictdel(dict: Arg, ...terms: Args): Promise<number>;
  /**
   * Returns all terms of a dictionary.
   *
   * `FT.DICTDUMP dict`, since Redis 1.4.0. O(N), N: terms of the dictionary.
   */
  ftDictdump(dict: Arg): Promise<Text[]>;
  /**
   * Drops an index, and with DD its documents.
   *
   * `FT.DROPINDEX index [DD]`, since Redis 7.2.4. O(1); O(N) with DD, N: documents.
   */
  ftDropindex(index: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Shows how a query is understood.
   *
   * `FT.EXPLAIN index query [DIALECT dialect]`, since Redis 7.2.4. O(1).
   */
  ftExplain(index: Arg, query: Arg, ...more: Args): Promise<Text>;
  /**
   * Shows how a query is understood, line by line.
   *
   * `FT.EXPLAINCLI index query [DIALECT dialect]`, since Redis 7.2.4. O(1).
   */
  ftExplaincli(index: Arg, query: Arg, ...more: Args): Promise<Text[]>;
  /**
   * Returns the fields of a document of an index.
   *
   * `FT.GET index document`, since Redis 7.2.4. O(N), N: fields.
   */
  ftGet(index: Arg, document: Arg): Promise<Text[] | null>;
  /**
   * Runs a request of Meilisearch's clients.
   *
   * `FT.HTTP method path query body`, since Redis 7.2.4. that of the request.
   */
  ftHttp(method: Arg, path: Arg, query: Arg, body: Arg): Promise<[number, Text, Text]>;
  /**
   * Runs a request of Meilisearch's clients that only reads.
   *
   * `FT.HTTP_RO method path query body`, since Redis 7.2.4. that of the request.
   */
  ftHttpRo(method: Arg, path: Arg, query: Arg, body: Arg): Promise<[number, Text, Text]>;
  /**
   * Returns what is known of an index.
   *
   * `FT.INFO index`, since Redis 7.2.4. O(N), N: segments.
   */
  ftInfo(index: Arg): Promise<MapOf<Text, Reply<Text>>>;
  /**
   * Returns the fields of documents of an index.
   *
   * `FT.MGET index document [document ...]`, since Redis 7.2.4. O(N), N: fields of all.
   */
  ftMget(index: Arg, ...documents: Args): Promise<(Text[] | null)[]>;
  /**
   * Runs a search and says how long its parts took.
   *
   * `FT.PROFILE index <SEARCH | AGGREGATE> [LIMITED] QUERY query [option [option ...]]`, since Redis 7.2.4. that of the search.
   */
  ftProfile(index: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Searches an index.
   *
   * `FT.SEARCH index query [option [option ...]]`, since Redis 7.2.4. O(N), N: postings of the words, and documents that match.
   */
  ftSearch(index: Arg, query: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Suggests other spellings of the words of a query.
   *
   * `FT.SPELLCHECK index query [DISTANCE distance] [TERMS <INCLUDE | EXCLUDE> dict [TERMS <INCLUDE | EXCLUDE> dict ...]] [DIALECT dialect]`, since Redis 7.2.4. O(N), N: terms of the index.
   */
  ftSpellcheck(index: Arg, query: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Adds a suggestion with a score.
   *
   * `FT.SUGADD key string score [INCR] [PAYLOAD payload]`, since Redis 1.0.0. O(log N), N: suggestions.
   */
  ftSugadd(key: Arg, string: Arg, score: Arg, ...more: Args): Promise<number>;
  /**
   * Removes a suggestion.
   *
   * `FT.SUGDEL key string`, since Redis 1.0.0. O(log N), N: suggestions.
   */
  ftSugdel(key: Arg, string: Arg): Promise<0 | 1>;
  /**
   * Returns the best suggestions that begin in a way.
   *
   * `FT.SUGGET key prefix [FUZZY] [WITHSCORES] [WITHPAYLOADS] [MAX max]`, since Redis 1.0.0. O(N), N: suggestions that begin so.
   */
  ftSugget(key: Arg, prefix: Arg, ...more: Args): Promise<Text[] | (Text | number)[] | (Text | null)[] | Reply<Text>[]>;
  /**
   * Returns the number of suggestions.
   *
   * `FT.SUGLEN key`, since Redis 1.0.0. O(log N), N: suggestions.
   */
  ftSuglen(key: Arg): Promise<number>;
  /**
   * Returns the words with synonyms and their groups.
   *
   * `FT.SYNDUMP index`, since Redis 7.2.4. O(N), N: words with synonyms.
   */
  ftSyndump(index: Arg): Promise<MapOf<Text, Text[]>>;
  /**
   * Adds words to a group of synonyms.
   *
   * `FT.SYNUPDATE index group [SKIPINITIALSCAN] term [term ...]`, since Redis 7.2.4. O(N), N: words with synonyms.
   */
  ftSynupdate(index: Arg, group: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Returns the tags of a field.
   *
   * `FT.TAGVALS index field`, since Redis 7.2.4. O(N), N: tags of the field.
   */
  ftTagvals(index: Arg, field: Arg): Promise<Text[]>;
  /**
   * Appends values to arrays.
   *
   * `JSON.ARRAPPEND key path value [value ...]`, since Redis 1.0.0. O(N log M), N: values, M: elements; with a path that finds several arrays, for each of them.
   */
  jsonArrappend(key: Arg, path: Arg, ...values: Args): Promise<Reply<Text>>;
  /**
   * Finds a value in arrays.
   *
   * `JSON.ARRINDEX key path value [start [stop]]`, since Redis 1.0.0. O(N), N: elements.
   */
  jsonArrindex(key: Arg, path: Arg, value: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Inserts values into arrays.
   *
   * `JSON.ARRINSERT key path index value [value ...]`, since Redis 1.0.0. O(N log M), N: values, M: elements.
   */
  jsonArrinsert(key: Arg, path: Arg, index: Arg, ...values: Args): Promise<Reply<Text>>;
  /**
   * Returns the lengths of arrays.
   *
   * `JSON.ARRLEN key [path]`, since Redis 1.0.0. O(log N), N: elements.
   */
  jsonArrlen(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Takes an element out of arrays.
   *
   * `JSON.ARRPOP key [path [index]]`, since Redis 1.0.0. O(log N), N: elements.
   */
  jsonArrpop(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Keeps a part of arrays.
   *
   * `JSON.ARRTRIM key path start stop`, since Redis 1.0.0. O(N), N: elements that go.
   */
  jsonArrtrim(key: Arg, path: Arg, start: Arg, stop: Arg): Promise<Reply<Text>>;
  /**
   * Empties arrays and objects, and sets numbers to 0.
   *
   * `JSON.CLEAR key [path]`, since Redis 2.0.0. O(N), N: values that go.
   */
  jsonClear(key: Arg, ...more: Args): Promise<number>;
  /**
   * Removes values from a document, or the document.
   *
   * `JSON.DEL key [path]`, since Redis 1.0.0. O(N), N: values that go.
   */
  jsonDel(key: Arg, ...more: Args): Promise<number>;
  /**
   * Does what JSON.DEL does.
   *
   * `JSON.FORGET key [path]`, since Redis 1.0.0. O(N), N: values that go.
   */
  jsonForget(key: Arg, ...more: Args): Promise<number>;
  /**
   * Returns parts of a document as text.
   *
   * `JSON.GET key [INDENT indent] [NEWLINE newline] [SPACE space] [path [path ...]]`, since Redis 1.0.0. O(N), N: values that are looked at and returned.
   */
  jsonGet(key: Arg, ...more: Args): Promise<Text | null>;
  /**
   * Changes values by a patch (RFC 7396).
   *
   * `JSON.MERGE key path value`, since Redis 2.6.0. O(N), N: values of the patch.
   */
  jsonMerge(key: Arg, path: Arg, value: Arg): Promise<'OK'>;
  /**
   * Returns a part of each of several documents.
   *
   * `JSON.MGET key [key ...] path`, since Redis 1.0.0. O(N), N: values that are looked at and returned.
   */
  jsonMget(...more: Args): Promise<(Text | null)[]>;
  /**
   * Sets values of several documents at once.
   *
   * `JSON.MSET key path value [key path value ...]`, since Redis 2.6.0. O(N), N: values.
   */
  jsonMset(...more: Args): Promise<'OK'>;
  /**
   * Adds a number to numbers.
   *
   * `JSON.NUMINCRBY key path value`, since Redis 1.0.0. O(log N), N: values of the document.
   */
  jsonNumincrby(key: Arg, path: Arg, value: Arg): Promise<Reply<Text>>;
  /**
   * Multiplies numbers by a number.
   *
   * `JSON.NUMMULTBY key path value`, since Redis 1.0.0. O(log N), N: values of the document.
   */
  jsonNummultby(key: Arg, path: Arg, value: Arg): Promise<Reply<Text>>;
  /**
   * Returns the names of the members of objects.
   *
   * `JSON.OBJKEYS key [path]`, since Redis 1.0.0. O(N), N: members.
   */
  jsonObjkeys(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Returns how many members objects have.
   *
   * `JSON.OBJLEN key [path]`, since Redis 1.0.0. O(log N), N: members.
   */
  jsonObjlen(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Returns values as values of the protocol.
   *
   * `JSON.RESP key [path]`, since Redis 1.0.0. O(N), N: values.
   */
  jsonResp(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Sets values of a document.
   *
   * `JSON.SET key path value [NX | XX]`, since Redis 1.0.0. O(N), N: values that come and go.
   */
  jsonSet(key: Arg, path: Arg, value: Arg, ...more: Args): Promise<'OK' | null>;
  /**
   * Appends to strings.
   *
   * `JSON.STRAPPEND key [path] value`, since Redis 1.0.0. O(N), N: bytes of the string.
   */
  jsonStrappend(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Returns the lengths of strings.
   *
   * `JSON.STRLEN key [path]`, since Redis 1.0.0. O(N), N: bytes of the string.
   */
  jsonStrlen(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Makes true of false, and false of true.
   *
   * `JSON.TOGGLE key path`, since Redis 2.0.0. O(log N), N: values of the document.
   */
  jsonToggle(key: Arg, path: Arg): Promise<Reply<Text>>;
  /**
   * Returns the types of values.
   *
   * `JSON.TYPE key [path]`, since Redis 1.0.0. O(log N), N: values of the document.
   */
  jsonType(key: Arg, ...more: Args): Promise<Reply<Text>>;
  /**
   * Checks a document against a JSON Schema, which is a document as well; of EdgeCask.
   *
   * `JSON.VALIDATE key schema`, since Redis 8.0.0. O(N), N: values of both documents.
   */
  jsonValidate(key: Arg, schema: Arg): Promise<'OK'>;
  /**
   * Adds an edge to a graph, and the nodes that it needs, or changes it.
   *
   * `GRAPH.ADDEDGE key source type target [WEIGHT weight] [PROPERTIES json]`, since Redis 7.2.4. O(log N), N: edges.
   */
  graphAddedge(key: Arg, source: Arg, type: Arg, target: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Adds a node to a graph, or changes it.
   *
   * `GRAPH.ADDNODE key node [LABEL label] [PROPERTIES json]`, since Redis 7.2.4. O(log N), N: nodes.
   */
  graphAddnode(key: Arg, node: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Removes an edge from a graph.
   *
   * `GRAPH.DELEDGE key source type target`, since Redis 7.2.4. O(log N), N: edges.
   */
  graphDeledge(key: Arg, source: Arg, type: Arg, target: Arg): Promise<0 | 1>;
  /**
   * Removes a node and its edges from a graph, and returns how many nodes and edges that were.
   *
   * `GRAPH.DELNODE key node`, since Redis 7.2.4. O(D log N), N: edges, D: edges of the node.
   */
  graphDelnode(key: Arg, node: Arg): Promise<number>;
  /**
   * Removes a property of a node or an edge.
   *
   * `GRAPH.DELPROPERTY key <NODE node | EDGE source type target> path`, since Redis 7.2.4. O(log N), N: nodes or edges.
   */
  graphDelproperty(key: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Returns an edge of a graph.
   *
   * `GRAPH.GETEDGE key source type target`, since Redis 7.2.4. O(log N), N: edges.
   */
  graphGetedge(key: Arg, source: Arg, type: Arg, target: Arg): Promise<MapOf<Text, Reply<Text>> | null>;
  /**
   * Returns a node of a graph.
   *
   * `GRAPH.GETNODE key node`, since Redis 7.2.4. O(log N), N: nodes.
   */
  graphGetnode(key: Arg, node: Arg): Promise<MapOf<Text, Reply<Text>> | null>;
  /**
   * Returns the edges of a node.
   *
   * `GRAPH.NEIGHBORS key node [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [FILTER expression] [EDGES table] [LIMIT count]`, since Redis 7.2.4. O(log N + D), N: edges, D: edges of the node.
   */
  graphNeighbors(key: Arg, node: Arg, ...more: Args): Promise<Reply<Text>[][]>;
  /**
   * Returns the cheapest path between two nodes.
   *
   * `GRAPH.PATH key source target [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [COST expression] [FILTER expression] [EDGES table]`, since Redis 7.2.4. O(N log N), N: edges nearer than the target.
   */
  graphPath(key: Arg, source: Arg, target: Arg, ...more: Args): Promise<Reply<Text>[] | null>;
  /**
   * Sets a property of a node or an edge.
   *
   * `GRAPH.SETPROPERTY key <NODE node | EDGE source type target> path json`, since Redis 7.2.4. O(log N), N: nodes or edges.
   */
  graphSetproperty(key: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Returns the nodes that are reached from a node.
   *
   * `GRAPH.WALK key node [DIRECTION <OUT | IN | BOTH>] [TYPES numtypes type [type ...]] [MINDEPTH depth] [MAXDEPTH depth] [UNIQUE <NODE | EDGE | PATH | NONE>] [ORDER <BFS | DFS>] [FILTER expression] [INCLUDE expression] [PRUNE expression] [EDGES table] [WITHPATHS] [LIMIT count]`, since Redis 7.2.4. O(N), N: edges of the nodes that are reached.
   */
  graphWalk(key: Arg, node: Arg, ...more: Args): Promise<Reply<Text>[][]>;
  /**
   * Lists the subcommands of CLIENT.
   *
   * `CLIENT HELP`, since Redis 5.0.0. O(1).
   */
  clientHelp(): Promise<string[]>;
  /**
   * Closes connections by address, number, type or user.
   *
   * `CLIENT KILL <ip:port | <[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME yes/no]> [<[ID client-id] | [TYPE <NORMAL | MASTER | SLAVE | REPLICA | PUBSUB>] | [USER username] | [ADDR ip:port] | [LADDR ip:port] | [SKIPME yes/no]> ...]>`, since Redis 2.4.0. O(N), N: connections.
   */
  clientKill(...more: Args): Promise<'OK' | number>;
  /**
   * Describes all connections, or those of a type or with given numbers.
   *
   * `CLIENT LIST [TYPE <NORMAL | MASTER | REPLICA | PUBSUB>] [ID client-id [client-id ...]]`, since Redis 2.4.0. O(N), N: connections.
   */
  clientList(...more: Args): Promise<Text>;
  /**
   * Holds commands, or those that write, back for some milliseconds.
   *
   * `CLIENT PAUSE timeout [WRITE | ALL]`, since Redis 2.9.50. O(1).
   */
  clientPause(timeout: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Ends the wait of a blocked connection.
   *
   * `CLIENT UNBLOCK client-id [TIMEOUT | ERROR]`, since Redis 5.0.0. O(log(N)), N: connections.
   */
  clientUnblock(clientId: Arg, ...more: Args): Promise<0 | 1>;
  /**
   * Ends CLIENT PAUSE.
   *
   * `CLIENT UNPAUSE`, since Redis 6.2.0. O(N), N: connections.
   */
  clientUnpause(): Promise<'OK'>;
  /**
   * Lists the categories of commands, or the commands of one category.
   *
   * `ACL CAT [categoryname]`, since Redis 6.0.0. O(1).
   */
  aclCat(...more: Args): Promise<Text[]>;
  /**
   * Deletes users and closes their connections.
   *
   * `ACL DELUSER username [username ...]`, since Redis 6.0.0. O(N), N: connections.
   */
  aclDeluser(...usernames: Args): Promise<number>;
  /**
   * Tells whether a user may run a request, without running it.
   *
   * `ACL DRYRUN username command [arg [arg ...]]`, since Redis 7.0.0. O(N), N: keys and channels of the request.
   */
  aclDryrun(username: Arg, command: Arg, ...more: Args): Promise<'OK' | Text>;
  /**
   * Makes a password that nobody can guess.
   *
   * `ACL GENPASS [bits]`, since Redis 6.0.0. O(1).
   */
  aclGenpass(...more: Args): Promise<Text>;
  /**
   * Describes a user and what it may do.
   *
   * `ACL GETUSER username`, since Redis 6.0.0. O(N), N: rules of the user.
   */
  aclGetuser(username: Arg): Promise<MapOf<Text, Reply<Text>> | null>;
  /**
   * Lists the subcommands of ACL.
   *
   * `ACL HELP`, since Redis 6.0.0. O(1).
   */
  aclHelp(): Promise<string[]>;
  /**
   * Describes all users, a line each.
   *
   * `ACL LIST`, since Redis 6.0.0. O(N), N: users.
   */
  aclList(): Promise<Text[]>;
  /**
   * Replaces all users by those of the file of users.
   *
   * `ACL LOAD`, since Redis 6.0.0. O(N), N: users.
   */
  aclLoad(): Promise<'OK'>;
  /**
   * Shows what was denied lately, or forgets it.
   *
   * `ACL LOG [count | RESET]`, since Redis 6.0.0. O(N), N: entries shown.
   */
  aclLog(...more: Args): Promise<MapOf<Text, Reply<Text>>[] | 'OK'>;
  /**
   * Writes all users to the file of users.
   *
   * `ACL SAVE`, since Redis 6.0.0. O(N), N: users.
   */
  aclSave(): Promise<'OK'>;
  /**
   * Makes a user, or changes what it may do.
   *
   * `ACL SETUSER username [rule [rule ...]]`, since Redis 6.0.0. O(N), N: rules.
   */
  aclSetuser(username: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Names all users.
   *
   * `ACL USERS`, since Redis 6.0.0. O(N), N: users.
   */
  aclUsers(): Promise<Text[]>;
  /**
   * Tells the user of this connection.
   *
   * `ACL WHOAMI`, since Redis 6.0.0. O(1).
   */
  aclWhoami(): Promise<Text>;
  /**
   * Counts the commands.
   *
   * `COMMAND COUNT`, since Redis 2.8.13. O(1).
   */
  commandCount(): Promise<number>;
  /**
   * Documents all or the named commands, arguments included.
   *
   * `COMMAND DOCS [command-name [command-name ...]]`, since Redis 7.0.0. O(N), N: names asked for.
   */
  commandDocs(...more: Args): Promise<MapOf<Text, MapOf<Text, Reply<Text>>>>;
  /**
   * Tells which arguments of a request are keys.
   *
   * `COMMAND GETKEYS command [arg [arg ...]]`, since Redis 2.8.13. O(N), N: arguments of the request.
   */
  commandGetkeys(command: Arg, ...more: Args): Promise<Text[]>;
  /**
   * Tells which arguments of a request are keys and what would be done with each.
   *
   * `COMMAND GETKEYSANDFLAGS command [arg [arg ...]]`, since Redis 7.0.0. O(N), N: arguments of the request.
   */
  commandGetkeysandflags(command: Arg, ...more: Args): Promise<[Text, string[]][]>;
  /**
   * Lists the subcommands of COMMAND.
   *
   * `COMMAND HELP`, since Redis 5.0.0. O(1).
   */
  commandHelp(): Promise<string[]>;
  /**
   * Describes all or the named commands for programs.
   *
   * `COMMAND INFO [command-name [command-name ...]]`, since Redis 2.8.13. O(N), N: names asked for.
   */
  commandInfo(...more: Args): Promise<([Text, number, string[], number, number, number, string[], Text[], MapOf<Text, Reply<Text>>[], Reply<Text>[]] | null)[]>;
  /**
   * Names all commands, or those of a category or matching a pattern.
   *
   * `COMMAND LIST [FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]`, since Redis 7.0.0. O(N), N: commands.
   */
  commandList(...more: Args): Promise<Text[]>;
  /**
   * Shows the settings whose names match.
   *
   * `CONFIG GET parameter [parameter ...]`, since Redis 2.0.0. O(N), N: patterns.
   */
  configGet(...parameters: Args): Promise<MapOf<Text, Text>>;
  /**
   * Lists the subcommands of CONFIG.
   *
   * `CONFIG HELP`, since Redis 5.0.0. O(1).
   */
  configHelp(): Promise<string[]>;
  /**
   * Sets the counters that INFO shows back to zero.
   *
   * `CONFIG RESETSTAT`, since Redis 2.0.0. O(1).
   */
  configResetstat(): Promise<'OK'>;
  /**
   * Writes the settings in force to the configuration file.
   *
   * `CONFIG REWRITE`, since Redis 2.8.0. O(1).
   */
  configRewrite(): Promise<'OK'>;
  /**
   * Changes settings while the server runs, all of them or none.
   *
   * `CONFIG SET parameter value [parameter value ...]`, since Redis 2.0.0. O(N), N: settings.
   */
  configSet(...more: Args): Promise<'OK'>;
  /**
   * Explains the recorded latency spikes in sentences.
   *
   * `LATENCY DOCTOR`, since Redis 2.8.13. O(1).
   */
  latencyDoctor(): Promise<Text>;
  /**
   * Draws the latest spikes of an event.
   *
   * `LATENCY GRAPH event`, since Redis 2.8.13. O(1).
   */
  latencyGraph(event: Arg): Promise<Text>;
  /**
   * Lists the subcommands of LATENCY.
   *
   * `LATENCY HELP`, since Redis 2.8.13. O(1).
   */
  latencyHelp(): Promise<string[]>;
  /**
   * Shows how many calls of each command took up to how many microseconds.
   *
   * `LATENCY HISTOGRAM [command [command ...]]`, since Redis 7.0.0. O(N), N: commands with a histogram.
   */
  latencyHistogram(...more: Args): Promise<MapOf<Text, MapOf<Text, number | MapOf<Text, number>>>>;
  /**
   * Shows the latest spikes of an event: time and milliseconds.
   *
   * `LATENCY HISTORY event`, since Redis 2.8.13. O(1).
   */
  latencyHistory(event: Arg): Promise<[number, number][]>;
  /**
   * Shows the latest and the worst spike of every event.
   *
   * `LATENCY LATEST`, since Redis 2.8.13. O(1).
   */
  latencyLatest(): Promise<[Text, number, number, number][]>;
  /**
   * Forgets the spikes of all or the named events and counts the events.
   *
   * `LATENCY RESET [event [event ...]]`, since Redis 2.8.13. O(1).
   */
  latencyReset(...more: Args): Promise<number>;
  /**
   * Explains the use of memory in sentences.
   *
   * `MEMORY DOCTOR`, since Redis 4.0.0. O(1).
   */
  memoryDoctor(): Promise<Text>;
  /**
   * Lists the subcommands of MEMORY.
   *
   * `MEMORY HELP`, since Redis 4.0.0. O(1).
   */
  memoryHelp(): Promise<string[]>;
  /**
   * Shows what the allocator tells of itself.
   *
   * `MEMORY MALLOC-STATS`, since Redis 4.0.0. O(1).
   */
  memoryMallocStats(): Promise<Text>;
  /**
   * Gives memory that is not used back to the system, as far as the allocator can.
   *
   * `MEMORY PURGE`, since Redis 4.0.0. O(1).
   */
  memoryPurge(): Promise<'OK'>;
  /**
   * Reports the use of memory, number by number.
   *
   * `MEMORY STATS`, since Redis 4.0.0. O(1).
   */
  memoryStats(): Promise<MapOf<Text, Reply<Text>>>;
  /**
   * Tells how many bytes of memory a key takes.
   *
   * `MEMORY USAGE key [SAMPLES count]`, since Redis 4.0.0. O(1).
   */
  memoryUsage(key: Arg, ...more: Args): Promise<number | null>;
  /**
   * Lists the subcommands of MODULE.
   *
   * `MODULE HELP`, since Redis 5.0.0. O(1).
   */
  moduleHelp(): Promise<string[]>;
  /**
   * Lists the loaded modules.
   *
   * `MODULE LIST`, since Redis 4.0.0. O(1).
   */
  moduleList(): Promise<MapOf<Text, Reply<Text>>[]>;
  /**
   * Refuses to load a module.
   *
   * `MODULE LOAD path [arg [arg ...]]`, since Redis 4.0.0. O(1).
   */
  moduleLoad(path: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Refuses to load a module with options.
   *
   * `MODULE LOADEX path [CONFIG name value [CONFIG name value ...]] [ARGS arg [arg ...]]`, since Redis 7.0.0. O(1).
   */
  moduleLoadex(path: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Refuses to unload a module.
   *
   * `MODULE UNLOAD name`, since Redis 4.0.0. O(1).
   */
  moduleUnload(name: Arg): Promise<'OK'>;
  /**
   * Shows the latest entries: number, time, microseconds, arguments, address and name of the client.
   *
   * `SLOWLOG GET [count]`, since Redis 2.2.12. O(N), N: entries shown.
   */
  slowlogGet(...more: Args): Promise<[number, number, number, Text[], Text, Text][]>;
  /**
   * Lists the subcommands of SLOWLOG.
   *
   * `SLOWLOG HELP`, since Redis 6.2.0. O(1).
   */
  slowlogHelp(): Promise<string[]>;
  /**
   * Counts the entries of the slow log.
   *
   * `SLOWLOG LEN`, since Redis 2.2.12. O(1).
   */
  slowlogLen(): Promise<number>;
  /**
   * Empties the slow log.
   *
   * `SLOWLOG RESET`, since Redis 2.2.12. O(N), N: entries.
   */
  slowlogReset(): Promise<'OK'>;
  /**
   * Would give slots to this node.
   *
   * `CLUSTER ADDSLOTS slot [slot ...]`, since Redis 3.0.0. O(N), N: slots.
   */
  clusterAddslots(...slots: Args): Promise<'OK'>;
  /**
   * Would give ranges of slots to this node.
   *
   * `CLUSTER ADDSLOTSRANGE start-slot end-slot [start-slot end-slot ...]`, since Redis 7.0.0. O(N), N: slots.
   */
  clusterAddslotsrange(...more: Args): Promise<'OK'>;
  /**
   * Would advance the configuration epoch.
   *
   * `CLUSTER BUMPEPOCH`, since Redis 3.0.0. O(1).
   */
  clusterBumpepoch(): Promise<string>;
  /**
   * Would count the reports that a node failed.
   *
   * `CLUSTER COUNT-FAILURE-REPORTS node-id`, since Redis 3.0.0. O(N), N: reports.
   */
  clusterCountFailureReports(nodeId: Arg): Promise<number>;
  /**
   * Would count the keys of a slot.
   *
   * `CLUSTER COUNTKEYSINSLOT slot`, since Redis 3.0.0. O(1).
   */
  clusterCountkeysinslot(slot: Arg): Promise<number>;
  /**
   * Would take slots from this node.
   *
   * `CLUSTER DELSLOTS slot [slot ...]`, since Redis 3.0.0. O(N), N: slots.
   */
  clusterDelslots(...slots: Args): Promise<'OK'>;
  /**
   * Would take ranges of slots from this node.
   *
   * `CLUSTER DELSLOTSRANGE start-slot end-slot [start-slot end-slot ...]`, since Redis 7.0.0. O(N), N: slots.
   */
  clusterDelslotsrange(...more: Args): Promise<'OK'>;
  /**
   * Would make this replica the primary.
   *
   * `CLUSTER FAILOVER [FORCE | TAKEOVER]`, since Redis 3.0.0. O(1).
   */
  clusterFailover(...more: Args): Promise<'OK'>;
  /**
   * Would take all slots from this node.
   *
   * `CLUSTER FLUSHSLOTS`, since Redis 3.0.0. O(1).
   */
  clusterFlushslots(): Promise<'OK'>;
  /**
   * Would remove a node from the list.
   *
   * `CLUSTER FORGET node-id`, since Redis 3.0.0. O(1).
   */
  clusterForget(nodeId: Arg): Promise<'OK'>;
  /**
   * Would name keys of a slot.
   *
   * `CLUSTER GETKEYSINSLOT slot count`, since Redis 3.0.0. O(N), N: keys.
   */
  clusterGetkeysinslot(slot: Arg, count: Arg): Promise<Text[]>;
  /**
   * Would list the subcommands of CLUSTER.
   *
   * `CLUSTER HELP`, since Redis 5.0.0. O(1).
   */
  clusterHelp(): Promise<string[]>;
  /**
   * Would describe the state of the cluster.
   *
   * `CLUSTER INFO`, since Redis 3.0.0. O(1).
   */
  clusterInfo(): Promise<Text>;
  /**
   * Would tell the slot of a key.
   *
   * `CLUSTER KEYSLOT key`, since Redis 3.0.0. O(N), N: bytes of the key.
   */
  clusterKeyslot(key: Arg): Promise<number>;
  /**
   * Would list the links between nodes.
   *
   * `CLUSTER LINKS`, since Redis 7.0.0. O(N), N: nodes.
   */
  clusterLinks(): Promise<(MapOf<Text, Text | number>)[]>;
  /**
   * Would introduce another node.
   *
   * `CLUSTER MEET ip port [cluster_bus_port]`, since Redis 3.0.0. O(1).
   */
  clusterMeet(ip: Arg, port: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Would tell the number of this node.
   *
   * `CLUSTER MYID`, since Redis 3.0.0. O(1).
   */
  clusterMyid(): Promise<Text>;
  /**
   * Would tell the shard of this node.
   *
   * `CLUSTER MYSHARDID`, since Redis 7.2.0. O(1).
   */
  clusterMyshardid(): Promise<Text>;
  /**
   * Would list the nodes.
   *
   * `CLUSTER NODES`, since Redis 3.0.0. O(N), N: nodes.
   */
  clusterNodes(): Promise<Text>;
  /**
   * Would list the replicas of a node.
   *
   * `CLUSTER REPLICAS node-id`, since Redis 5.0.0. O(N), N: replicas.
   */
  clusterReplicas(nodeId: Arg): Promise<Text[]>;
  /**
   * Would make this node a replica of another.
   *
   * `CLUSTER REPLICATE node-id`, since Redis 3.0.0. O(1).
   */
  clusterReplicate(nodeId: Arg): Promise<'OK'>;
  /**
   * Would make this node forget the cluster.
   *
   * `CLUSTER RESET [HARD | SOFT]`, since Redis 3.0.0. O(N), N: nodes.
   */
  clusterReset(...more: Args): Promise<'OK'>;
  /**
   * Would write the configuration of the cluster.
   *
   * `CLUSTER SAVECONFIG`, since Redis 3.0.0. O(1).
   */
  clusterSaveconfig(): Promise<'OK'>;
  /**
   * Would set the configuration epoch.
   *
   * `CLUSTER SET-CONFIG-EPOCH config-epoch`, since Redis 3.0.0. O(1).
   */
  clusterSetConfigEpoch(configEpoch: Arg): Promise<'OK'>;
  /**
   * Would change the state of a slot.
   *
   * `CLUSTER SETSLOT slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>`, since Redis 3.0.0. O(1).
   */
  clusterSetslot(slot: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Would describe the shards.
   *
   * `CLUSTER SHARDS`, since Redis 7.0.0. O(N), N: nodes.
   */
  clusterShards(): Promise<MapOf<Text, Reply<Text>[]>[]>;
  /**
   * Would list the replicas of a node.
   *
   * `CLUSTER SLAVES node-id`, since Redis 3.0.0. O(N), N: replicas.
   *
   * @deprecated since 5.0.0: `CLUSTER REPLICAS`.
   */
  clusterSlaves(nodeId: Arg): Promise<Text[]>;
  /**
   * Would tell which nodes have which slots.
   *
   * `CLUSTER SLOTS`, since Redis 3.0.0. O(N), N: nodes.
   *
   * @deprecated since 7.0.0: `CLUSTER SHARDS`.
   */
  clusterSlots(): Promise<Reply<Text>[][]>;
  /**
   * Names the internal representation of a value.
   *
   * `OBJECT ENCODING key`, since Redis 2.2.3. O(1).
   */
  objectEncoding(key: Arg): Promise<Text | null>;
  /**
   * Estimates how often a key has been used, on a logarithmic scale.
   *
   * `OBJECT FREQ key`, since Redis 4.0.0. O(1).
   */
  objectFreq(key: Arg): Promise<number | null>;
  /**
   * Lists the subcommands of OBJECT.
   *
   * `OBJECT HELP`, since Redis 6.2.0. O(1).
   */
  objectHelp(): Promise<string[]>;
  /**
   * Tells the seconds since a key was last used.
   *
   * `OBJECT IDLETIME key`, since Redis 2.2.3. O(1).
   */
  objectIdletime(key: Arg): Promise<number | null>;
  /**
   * Tells how many references to a value there are.
   *
   * `OBJECT REFCOUNT key`, since Redis 2.2.3. O(1).
   */
  objectRefcount(key: Arg): Promise<number | null>;
  /**
   * Lists the channels that have listeners.
   *
   * `PUBSUB CHANNELS [pattern]`, since Redis 2.8.0. O(N), N: channels with listeners.
   */
  pubsubChannels(...more: Args): Promise<Text[]>;
  /**
   * Lists the subcommands of PUBSUB.
   *
   * `PUBSUB HELP`, since Redis 6.2.0. O(1).
   */
  pubsubHelp(): Promise<string[]>;
  /**
   * Counts the patterns that have listeners.
   *
   * `PUBSUB NUMPAT`, since Redis 2.8.0. O(1).
   */
  pubsubNumpat(): Promise<number>;
  /**
   * Counts the listeners of channels, those of patterns left out.
   *
   * `PUBSUB NUMSUB [channel [channel ...]]`, since Redis 2.8.0. O(N), N: channels asked for.
   */
  pubsubNumsub(...more: Args): Promise<(Text | number)[]>;
  /**
   * Lists the shard channels that have listeners.
   *
   * `PUBSUB SHARDCHANNELS [pattern]`, since Redis 7.0.0. O(N), N: shard channels with listeners.
   */
  pubsubShardchannels(...more: Args): Promise<Text[]>;
  /**
   * Counts the listeners of shard channels.
   *
   * `PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]`, since Redis 7.0.0. O(N), N: shard channels asked for.
   */
  pubsubShardnumsub(...more: Args): Promise<(Text | number)[]>;
  /**
   * Makes a group that reads from an id on.
   *
   * `XGROUP CREATE key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]`, since Redis 5.0.0. O(log(N)), N: groups of the stream.
   */
  xgroupCreate(key: Arg, group: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Makes a consumer in a group.
   *
   * `XGROUP CREATECONSUMER key group consumer`, since Redis 6.2.0. O(log(N)), N: consumers of the group.
   */
  xgroupCreateconsumer(key: Arg, group: Arg, consumer: Arg): Promise<0 | 1>;
  /**
   * Removes a consumer and counts the entries that were pending for it.
   *
   * `XGROUP DELCONSUMER key group consumer`, since Redis 5.0.0. O(M*log(N)), N: pending entries of the group, M: those of the consumer.
   */
  xgroupDelconsumer(key: Arg, group: Arg, consumer: Arg): Promise<number>;
  /**
   * Removes a group with its consumers and all that is pending.
   *
   * `XGROUP DESTROY key group`, since Redis 5.0.0. O(N), N: pending entries and consumers of the group.
   */
  xgroupDestroy(key: Arg, group: Arg): Promise<0 | 1>;
  /**
   * Lists the subcommands of XGROUP.
   *
   * `XGROUP HELP`, since Redis 5.0.0. O(1).
   */
  xgroupHelp(): Promise<string[]>;
  /**
   * Moves a group to another id, from which it reads on.
   *
   * `XGROUP SETID key group <id | $> [ENTRIESREAD entries-read]`, since Redis 5.0.0. O(log(N)), N: groups of the stream.
   */
  xgroupSetid(key: Arg, group: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Lists the consumers of a group.
   *
   * `XINFO CONSUMERS key group`, since Redis 5.0.0. O(N), N: consumers of the group.
   */
  xinfoConsumers(key: Arg, group: Arg): Promise<(MapOf<Text, Text | number>)[]>;
  /**
   * Lists the groups of a stream.
   *
   * `XINFO GROUPS key`, since Redis 5.0.0. O(N), N: groups of the stream.
   */
  xinfoGroups(key: Arg): Promise<(MapOf<Text, Text | number | null>)[]>;
  /**
   * Lists the subcommands of XINFO.
   *
   * `XINFO HELP`, since Redis 5.0.0. O(1).
   */
  xinfoHelp(): Promise<string[]>;
  /**
   * Tells about a stream, in full with its groups and consumers.
   *
   * `XINFO STREAM key [FULL [COUNT count]]`, since Redis 5.0.0. O(log(N)), N: entries of the stream; with FULL also what is listed.
   */
  xinfoStream(key: Arg, ...more: Args): Promise<MapOf<Text, Reply<Text>>>;
  /**
   * Has a function run every so many milliseconds.
   *
   * `CRON CREATE name EVERY milliseconds CALL function`, since Redis 7.2.4. O(N), N: crons.
   */
  cronCreate(name: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Drops a cron.
   *
   * `CRON DROP name`, since Redis 7.2.4. O(N), N: crons.
   */
  cronDrop(name: Arg): Promise<'OK'>;
  /**
   * Lists the subcommands of CRON.
   *
   * `CRON HELP`, since Redis 7.2.4. O(1).
   */
  cronHelp(): Promise<string[]>;
  /**
   * Describes the crons, and tells how often they have run and failed.
   *
   * `CRON LIST`, since Redis 7.2.4. O(N), N: crons.
   */
  cronList(): Promise<(MapOf<Text, Text | number | null>)[]>;
  /**
   * Shows the last failures of crons, or forgets them.
   *
   * `CRON LOG [count | RESET]`, since Redis 7.2.4. O(N), N: failures that are shown.
   */
  cronLog(...more: Args): Promise<(MapOf<Text, Text | number>)[] | 'OK'>;
  /**
   * Deletes a library and its functions.
   *
   * `FUNCTION DELETE library-name`, since Redis 7.0.0. O(1).
   */
  functionDelete(libraryName: Arg): Promise<'OK'>;
  /**
   * Returns all libraries as bytes that FUNCTION RESTORE understands.
   *
   * `FUNCTION DUMP`, since Redis 7.0.0. O(N), N: libraries.
   */
  functionDump(): Promise<Text>;
  /**
   * Deletes all libraries.
   *
   * `FUNCTION FLUSH [ASYNC | SYNC]`, since Redis 7.0.0. O(N), N: libraries.
   */
  functionFlush(...more: Args): Promise<'OK'>;
  /**
   * Lists the subcommands of FUNCTION.
   *
   * `FUNCTION HELP`, since Redis 7.0.0. O(1).
   */
  functionHelp(): Promise<string[]>;
  /**
   * Ends a function that runs, unless it has written.
   *
   * `FUNCTION KILL`, since Redis 7.0.0. O(1).
   */
  functionKill(): Promise<'OK'>;
  /**
   * Describes libraries and their functions.
   *
   * `FUNCTION LIST [LIBRARYNAME library-name-pattern] [WITHCODE]`, since Redis 7.0.0. O(N), N: functions.
   */
  functionList(...more: Args): Promise<(MapOf<Text, Text | (MapOf<Text, Text | null | string[]>)[]>)[]>;
  /**
   * Adds a library, or replaces one.
   *
   * `FUNCTION LOAD [REPLACE] function-code`, since Redis 7.0.0. that of the library's code.
   */
  functionLoad(...more: Args): Promise<Text>;
  /**
   * Adds the libraries of FUNCTION DUMP.
   *
   * `FUNCTION RESTORE serialized-value [FLUSH | APPEND | REPLACE]`, since Redis 7.0.0. O(N), N: libraries.
   */
  functionRestore(serializedValue: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Tells which function runs, and how many there are.
   *
   * `FUNCTION STATS`, since Redis 7.0.0. O(1).
   */
  functionStats(): Promise<MapOf<Text, Reply<Text>>>;
  /**
   * Says that scripts of this connection are not debugged; there is no debugger.
   *
   * `SCRIPT DEBUG <YES | SYNC | NO>`, since Redis 3.2.0. O(1).
   */
  scriptDebug(...more: Args): Promise<'OK'>;
  /**
   * Tells which scripts the server has.
   *
   * `SCRIPT EXISTS sha1 [sha1 ...]`, since Redis 2.6.0. O(N), N: hashes.
   */
  scriptExists(...sha1s: Args): Promise<(0 | 1)[]>;
  /**
   * Forgets all scripts.
   *
   * `SCRIPT FLUSH [ASYNC | SYNC]`, since Redis 2.6.0. O(N), N: scripts.
   */
  scriptFlush(...more: Args): Promise<'OK'>;
  /**
   * Lists the subcommands of SCRIPT.
   *
   * `SCRIPT HELP`, since Redis 5.0.0. O(1).
   */
  scriptHelp(): Promise<string[]>;
  /**
   * Ends a script that runs, unless it has written.
   *
   * `SCRIPT KILL`, since Redis 2.6.0. O(1).
   */
  scriptKill(): Promise<'OK'>;
  /**
   * Has the server keep a script, and returns its SHA-1.
   *
   * `SCRIPT LOAD script`, since Redis 2.6.0. O(N), N: bytes of the script.
   */
  scriptLoad(script: Arg): Promise<Text>;
  /**
   * Has a function run before the commit of changes of keys with a prefix.
   *
   * `TRIGGER CREATE name ON events PREFIX prefix [IF type] CALL function`, since Redis 7.2.4. O(N log N), N: triggers.
   */
  triggerCreate(name: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Drops a trigger.
   *
   * `TRIGGER DROP name`, since Redis 7.2.4. O(N log N), N: triggers.
   */
  triggerDrop(name: Arg): Promise<'OK'>;
  /**
   * Lists the subcommands of TRIGGER.
   *
   * `TRIGGER HELP`, since Redis 7.2.4. O(1).
   */
  triggerHelp(): Promise<string[]>;
  /**
   * Describes the triggers.
   *
   * `TRIGGER LIST`, since Redis 7.2.4. O(N), N: triggers.
   */
  triggerList(): Promise<(MapOf<Text, Text | null>)[]>;
  /**
   * Returns what a key held before the transaction, to the function of a trigger.
   *
   * `TRIGGER OLD key`, since Redis 7.2.4. O(N), N: changed members.
   */
  triggerOld(key: Arg): Promise<Reply<Text>>;
  /**
   * Tells how often triggers have run, refused and failed.
   *
   * `TRIGGER STATS`, since Redis 7.2.4. O(N), N: triggers.
   */
  triggerStats(): Promise<(MapOf<Text, Text | number>)[]>;
  /**
   * Closes a cursor.
   *
   * `SQL.CURSOR CLOSE key cursor`, since Redis 7.2.4. O(1).
   */
  sqlCursorClose(key: Arg, cursor: Arg): Promise<0 | 1>;
  /**
   * Returns the next rows of a cursor, and its number if there may be more.
   *
   * `SQL.CURSOR FETCH key cursor [COUNT count]`, since Redis 7.2.4. that of the statement for so many rows.
   */
  sqlCursorFetch(key: Arg, cursor: Arg, ...more: Args): Promise<[number, Reply<Text>[][]]>;
  /**
   * Lists the subcommands of SQL.CURSOR.
   *
   * `SQL.CURSOR HELP`, since Redis 7.2.4. O(1).
   */
  sqlCursorHelp(): Promise<string[]>;
  /**
   * Begins a statement that reads, on the database as it is now.
   *
   * `SQL.CURSOR OPEN key statement [NAMED] [arg [arg ...]]`, since Redis 7.2.4. that of the statement to its first row.
   */
  sqlCursorOpen(key: Arg, statement: Arg, ...more: Args): Promise<[number, Text[]]>;
  /**
   * Returns settings by their names.
   *
   * `FT.CONFIG GET option`, since Redis 7.2.4. O(N), N: options.
   */
  ftConfigGet(option: Arg): Promise<Reply<Text>>;
  /**
   * Describes settings.
   *
   * `FT.CONFIG HELP [option]`, since Redis 7.2.4. O(N), N: options.
   */
  ftConfigHelp(...more: Args): Promise<Reply<Text>>;
  /**
   * Changes a setting until the server ends.
   *
   * `FT.CONFIG SET option value`, since Redis 7.2.4. O(1).
   */
  ftConfigSet(option: Arg, value: Arg): Promise<'OK'>;
  /**
   * Drops a cursor.
   *
   * `FT.CURSOR DEL index cursor-id`, since Redis 7.2.4. O(1).
   */
  ftCursorDel(index: Arg, cursorId: Arg): Promise<'OK'>;
  /**
   * Returns the next rows of a cursor.
   *
   * `FT.CURSOR READ index cursor-id [COUNT count]`, since Redis 7.2.4. O(N), N: rows.
   */
  ftCursorRead(index: Arg, cursorId: Arg, ...more: Args): Promise<[Reply<Text>, number]>;
  /**
   * Lists the subcommands of JSON.DEBUG.
   *
   * `JSON.DEBUG HELP`, since Redis 1.0.0. O(1).
   */
  jsonDebugHelp(): Promise<string[]>;
  /**
   * Returns the bytes that values take in the store.
   *
   * `JSON.DEBUG MEMORY key [path]`, since Redis 1.0.0. O(N), N: values.
   */
  jsonDebugMemory(key: Arg, ...more: Args): Promise<Reply<Text>>;
}

/** Commands that change or need the state of a connection: methods of one that its owner has alone. */
export interface ConnectionCommands<Text> {
  /**
   * Logs the connection in with a password, or with a user name and a password.
   *
   * `AUTH [username] password`, since Redis 1.0.0. O(N), N: passwords of the user.
   */
  auth(...more: Args): Promise<'OK'>;
  /**
   * Chooses the protocol version, logs in and names the connection if wanted, describes the server.
   *
   * `HELLO [protover [AUTH username password] [SETNAME clientname]]`, since Redis 6.0.0. O(1).
   */
  hello(...more: Args): Promise<MapOf<Text, Reply<Text>>>;
  /**
   * Closes the connection after everything already asked has been answered.
   *
   * `QUIT`, since Redis 1.0.0. O(1).
   *
   * @deprecated since 7.2.0: closing the connection.
   */
  quit(...more: Args): Promise<'OK'>;
  /**
   * Takes the connection back to the state in which it was accepted.
   *
   * `RESET`, since Redis 6.2.0. O(1).
   */
  reset(): Promise<string>;
  /**
   * Changes the database the connection works on.
   *
   * `SELECT index`, since Redis 1.0.0. O(1).
   */
  select(index: Arg): Promise<'OK'>;
  /**
   * Would let the next command through to a slot that is being imported.
   *
   * `ASKING`, since Redis 3.0.0. O(1).
   */
  asking(): Promise<'OK'>;
  /**
   * Would allow reads from a replica of a cluster.
   *
   * `READONLY`, since Redis 3.0.0. O(1).
   */
  readonly(): Promise<'OK'>;
  /**
   * Would forbid reads from a replica of a cluster.
   *
   * `READWRITE`, since Redis 3.0.0. O(1).
   */
  readwrite(): Promise<'OK'>;
  /**
   * Counts the replicas that have the writes of this connection, which is none.
   *
   * `WAIT numreplicas timeout`, since Redis 3.0.0. O(1).
   */
  wait(numreplicas: Arg, timeout: Arg): Promise<number>;
  /**
   * Has the writes of this connection reach the disk and tells how many logs have them.
   *
   * `WAITAOF numlocal numreplicas timeout`, since Redis 7.2.0. O(bytes not synced yet).
   */
  waitaof(numlocal: Arg, numreplicas: Arg, timeout: Arg): Promise<[number, number]>;
  /**
   * Begins a transaction on a database that lasts until SQL.COMMIT or SQL.ROLLBACK.
   *
   * `SQL.BEGIN key [DEFERRED | IMMEDIATE | EXCLUSIVE]`, since Redis 7.2.4. O(1).
   */
  sqlBegin(key: Arg, ...more: Args): Promise<'OK'>;
  /**
   * Ends the transaction on a database and keeps what it has changed.
   *
   * `SQL.COMMIT key`, since Redis 7.2.4. O(N), N: pages that it has changed.
   */
  sqlCommit(key: Arg): Promise<'OK'>;
  /**
   * Ends the transaction on a database and undoes what it has changed.
   *
   * `SQL.ROLLBACK key`, since Redis 7.2.4. O(1).
   */
  sqlRollback(key: Arg): Promise<'OK'>;
  /**
   * Says whether the keys of the next command go to this connection's cache.
   *
   * `CLIENT CACHING <YES | NO>`, since Redis 6.0.0. O(1).
   */
  clientCaching(...more: Args): Promise<'OK'>;
  /**
   * Tells the name given to this connection.
   *
   * `CLIENT GETNAME`, since Redis 2.6.9. O(1).
   */
  clientGetname(): Promise<Text | null>;
  /**
   * Tells which connection gets the invalidations for this one's cache.
   *
   * `CLIENT GETREDIR`, since Redis 6.0.0. O(1).
   */
  clientGetredir(): Promise<number>;
  /**
   * Tells the connection's number, which no other connection ever gets.
   *
   * `CLIENT ID`, since Redis 5.0.0. O(1).
   */
  clientId(): Promise<number>;
  /**
   * Describes this connection.
   *
   * `CLIENT INFO`, since Redis 6.2.0. O(1).
   */
  clientInfo(): Promise<Text>;
  /**
   * Exempts this connection from being closed when clients use too much memory.
   *
   * `CLIENT NO-EVICT <ON | OFF>`, since Redis 7.0.0. O(1).
   */
  clientNoEvict(...more: Args): Promise<'OK'>;
  /**
   * Stops this connection's reads from counting as use of a key.
   *
   * `CLIENT NO-TOUCH <ON | OFF>`, since Redis 7.2.0. O(1).
   */
  clientNoTouch(...more: Args): Promise<'OK'>;
  /**
   * Turns replies to this connection on or off, or skips the next one.
   *
   * `CLIENT REPLY <ON | OFF | SKIP>`, since Redis 3.2.0. O(1).
   */
  clientReply(...more: Args): Promise<void | 'OK'>;
  /**
   * Tells the server which client library, and which version of it, is speaking.
   *
   * `CLIENT SETINFO <LIB-NAME libname | LIB-VER libver>`, since Redis 7.2.0. O(1).
   */
  clientSetinfo(...more: Args): Promise<'OK'>;
  /**
   * Gives this connection a name.
   *
   * `CLIENT SETNAME connection-name`, since Redis 2.6.9. O(1).
   */
  clientSetname(connectionName: Arg): Promise<'OK'>;
  /**
   * Tells this connection, or another one, when keys it has read are changed.
   *
   * `CLIENT TRACKING <ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]`, since Redis 6.0.0. O(1).
   */
  clientTracking(...more: Args): Promise<'OK'>;
  /**
   * Tells which invalidations this connection gets.
   *
   * `CLIENT TRACKINGINFO`, since Redis 6.2.0. O(1).
   */
  clientTrackinginfo(): Promise<MapOf<Text, Reply<Text>>>;
}

// A line for each method: the words of the command; behind `b` the argument that says for how long it may block, from the
// end if it is negative; behind `k` the places of the keys of a command that only reads.
export const COMMANDS = `ECHO
PING
BGREWRITEAOF
BGSAVE
COMMAND
DBSIZE
DEBUG
FAILOVER
FLUSHALL
FLUSHDB
INFO
LASTSAVE
LOLWUT
REPLICAOF
ROLE
SAVE
SHUTDOWN
SLAVEOF
SWAPDB
TIME
COPY
DEL
DUMP;k1
EXISTS;k1*
EXPIRE
EXPIREAT
EXPIRETIME;k1
KEYS
MOVE
PERSIST
PEXPIRE
PEXPIREAT
PEXPIRETIME;k1
PTTL;k1
RANDOMKEY
RENAME
RENAMENX
RESTORE
SCAN
SORT
SORT_RO;k1
TOUCH;k1*
TTL;k1
TYPE;k1
UNLINK
APPEND
DECR
DECRBY
GET;k1
GETDEL
GETEX
GETRANGE;k1
GETSET
INCR
INCRBY
INCRBYFLOAT
LCS
MGET;k1*
MSET
MSETNX
PSETEX
SET
SETEX
SETNX
SETRANGE
STRLEN;k1
SUBSTR;k1
BITCOUNT;k1
BITFIELD
BITFIELD_RO;k1
BITOP
BITPOS;k1
GETBIT;k1
SETBIT
HDEL
HEXISTS;k1
HGET;k1
HGETALL;k1
HINCRBY
HINCRBYFLOAT
HKEYS;k1
HLEN;k1
HMGET;k1
HMSET
HRANDFIELD;k1
HSCAN;k1
HSET
HSETNX
HSTRLEN;k1
HVALS;k1
BLMOVE;b-1s
BLMPOP;b1s
BLPOP;b-1s
BRPOP;b-1s
BRPOPLPUSH;b-1s
LINDEX;k1
LINSERT
LLEN;k1
LMOVE
LMPOP
LPOP
LPOS;k1
LPUSH
LPUSHX
LRANGE;k1
LREM
LSET
LTRIM
RPOP
RPOPLPUSH
RPUSH
RPUSHX
SADD
SCARD;k1
SDIFF;k1*
SDIFFSTORE
SINTER;k1*
SINTERCARD
SINTERSTORE
SISMEMBER;k1
SMEMBERS;k1
SMISMEMBER;k1
SMOVE
SPOP
SRANDMEMBER;k1
SREM
SSCAN;k1
SUNION;k1*
SUNIONSTORE
BZMPOP;b1s
BZPOPMAX;b-1s
BZPOPMIN;b-1s
ZADD
ZCARD;k1
ZCOUNT;k1
ZDIFF
ZDIFFSTORE
ZINCRBY
ZINTER
ZINTERCARD
ZINTERSTORE
ZLEXCOUNT;k1
ZMPOP
ZMSCORE;k1
ZPOPMAX
ZPOPMIN
ZRANDMEMBER;k1
ZRANGE;k1
ZRANGEBYLEX;k1
ZRANGEBYSCORE;k1
ZRANGESTORE
ZRANK;k1
ZREM
ZREMRANGEBYLEX
ZREMRANGEBYRANK
ZREMRANGEBYSCORE
ZREVRANGE;k1
ZREVRANGEBYLEX;k1
ZREVRANGEBYSCORE;k1
ZREVRANK;k1
ZSCAN;k1
ZSCORE;k1
ZUNION
ZUNIONSTORE
PFADD
PFCOUNT;k1*
PFDEBUG
PFMERGE
PFSELFTEST
PUBLISH
SPUBLISH
XACK
XADD
XAUTOCLAIM
XCLAIM
XDEL
XLEN;k1
XPENDING;k1
XRANGE;k1
XREAD;bBLOCK
XREADGROUP;bBLOCK
XREVRANGE;k1
XSETID
XTRIM
GEOADD
GEODIST;k1
GEOHASH;k1
GEOPOS;k1
GEORADIUS
GEORADIUS_RO;k1
GEORADIUSBYMEMBER
GEORADIUSBYMEMBER_RO;k1
GEOSEARCH;k1
GEOSEARCHSTORE
EVAL
EVAL_RO
EVALSHA
EVALSHA_RO
FCALL
FCALL_RO
SQL.DENORM
SQL.DESC;k1
SQL.DROPSTMT
SQL.DUMP;k1
SQL.EXEC
SQL.EXECUTE
SQL.EXECUTE_RO;k1
SQL.EXPLAIN;k1
SQL.HRANA
SQL.NORM
SQL.PREPARE
SQL.QUERY;k1
SQL.SCRIPT
SQL.STATS;k1
SQL.STORE
SQL.TABLES;k1
SQL.WORDS
SQL.WORDS_RO
FT._LIST
FT.AGGREGATE
FT.ALIASADD
FT.ALIASDEL
FT.ALIASUPDATE
FT.ALTER
FT.CREATE
FT.DEL
FT.DICTADD
FT.DICTDEL
FT.DICTDUMP
FT.DROPINDEX
FT.EXPLAIN
FT.EXPLAINCLI
FT.GET
FT.HTTP
FT.HTTP_RO
FT.INFO
FT.MGET
FT.PROFILE
FT.SEARCH
FT.SPELLCHECK
FT.SUGADD
FT.SUGDEL
FT.SUGGET;k1
FT.SUGLEN;k1
FT.SYNDUMP
FT.SYNUPDATE
FT.TAGVALS
JSON.ARRAPPEND
JSON.ARRINDEX;k1
JSON.ARRINSERT
JSON.ARRLEN;k1
JSON.ARRPOP
JSON.ARRTRIM
JSON.CLEAR
JSON.DEL
JSON.FORGET
JSON.GET;k1
JSON.MERGE
JSON.MGET
JSON.MSET
JSON.NUMINCRBY
JSON.NUMMULTBY
JSON.OBJKEYS;k1
JSON.OBJLEN;k1
JSON.RESP;k1
JSON.SET
JSON.STRAPPEND
JSON.STRLEN;k1
JSON.TOGGLE
JSON.TYPE;k1
JSON.VALIDATE
GRAPH.ADDEDGE
GRAPH.ADDNODE
GRAPH.DELEDGE
GRAPH.DELNODE
GRAPH.DELPROPERTY
GRAPH.GETEDGE;k1
GRAPH.GETNODE;k1
GRAPH.NEIGHBORS;k1
GRAPH.PATH;k1
GRAPH.SETPROPERTY
GRAPH.WALK;k1
CLIENT HELP
CLIENT KILL
CLIENT LIST
CLIENT PAUSE
CLIENT UNBLOCK
CLIENT UNPAUSE
ACL CAT
ACL DELUSER
ACL DRYRUN
ACL GENPASS
ACL GETUSER
ACL HELP
ACL LIST
ACL LOAD
ACL LOG
ACL SAVE
ACL SETUSER
ACL USERS
ACL WHOAMI
COMMAND COUNT
COMMAND DOCS
COMMAND GETKEYS
COMMAND GETKEYSANDFLAGS
COMMAND HELP
COMMAND INFO
COMMAND LIST
CONFIG GET
CONFIG HELP
CONFIG RESETSTAT
CONFIG REWRITE
CONFIG SET
LATENCY DOCTOR
LATENCY GRAPH
LATENCY HELP
LATENCY HISTOGRAM
LATENCY HISTORY
LATENCY LATEST
LATENCY RESET
MEMORY DOCTOR
MEMORY HELP
MEMORY MALLOC-STATS
MEMORY PURGE
MEMORY STATS
MEMORY USAGE;k2
MODULE HELP
MODULE LIST
MODULE LOAD
MODULE LOADEX
MODULE UNLOAD
SLOWLOG GET
SLOWLOG HELP
SLOWLOG LEN
SLOWLOG RESET
CLUSTER ADDSLOTS
CLUSTER ADDSLOTSRANGE
CLUSTER BUMPEPOCH
CLUSTER COUNT-FAILURE-REPORTS
CLUSTER COUNTKEYSINSLOT
CLUSTER DELSLOTS
CLUSTER DELSLOTSRANGE
CLUSTER FAILOVER
CLUSTER FLUSHSLOTS
CLUSTER FORGET
CLUSTER GETKEYSINSLOT
CLUSTER HELP
CLUSTER INFO
CLUSTER KEYSLOT
CLUSTER LINKS
CLUSTER MEET
CLUSTER MYID
CLUSTER MYSHARDID
CLUSTER NODES
CLUSTER REPLICAS
CLUSTER REPLICATE
CLUSTER RESET
CLUSTER SAVECONFIG
CLUSTER SET-CONFIG-EPOCH
CLUSTER SETSLOT
CLUSTER SHARDS
CLUSTER SLAVES
CLUSTER SLOTS
OBJECT ENCODING;k2
OBJECT FREQ;k2
OBJECT HELP
OBJECT IDLETIME;k2
OBJECT REFCOUNT;k2
PUBSUB CHANNELS
PUBSUB HELP
PUBSUB NUMPAT
PUBSUB NUMSUB
PUBSUB SHARDCHANNELS
PUBSUB SHARDNUMSUB
XGROUP CREATE
XGROUP CREATECONSUMER
XGROUP DELCONSUMER
XGROUP DESTROY
XGROUP HELP
XGROUP SETID
XINFO CONSUMERS;k2
XINFO GROUPS;k2
XINFO HELP
XINFO STREAM;k2
CRON CREATE
CRON DROP
CRON HELP
CRON LIST
CRON LOG
FUNCTION DELETE
FUNCTION DUMP
FUNCTION FLUSH
FUNCTION HELP
FUNCTION KILL
FUNCTION LIST
FUNCTION LOAD
FUNCTION RESTORE
FUNCTION STATS
SCRIPT DEBUG
SCRIPT EXISTS
SCRIPT FLUSH
SCRIPT HELP
SCRIPT KILL
SCRIPT LOAD
TRIGGER CREATE
TRIGGER DROP
TRIGGER HELP
TRIGGER LIST
TRIGGER OLD;k2
TRIGGER STATS
SQL.CURSOR CLOSE;k2
SQL.CURSOR FETCH;k2
SQL.CURSOR HELP
SQL.CURSOR OPEN;k2
FT.CONFIG GET
FT.CONFIG HELP
FT.CONFIG SET
FT.CURSOR DEL
FT.CURSOR READ
JSON.DEBUG HELP
JSON.DEBUG MEMORY;k2`;
export const CONNECTION_COMMANDS = `AUTH
HELLO
QUIT
RESET
SELECT
ASKING
READONLY
READWRITE
WAIT;b-1ms
WAITAOF;b-1ms
SQL.BEGIN
SQL.COMMIT
SQL.ROLLBACK
CLIENT CACHING
CLIENT GETNAME
CLIENT GETREDIR
CLIENT ID
CLIENT INFO
CLIENT NO-EVICT
CLIENT NO-TOUCH
CLIENT REPLY
CLIENT SETINFO
CLIENT SETNAME
CLIENT TRACKING
CLIENT TRACKINGINFO`;
