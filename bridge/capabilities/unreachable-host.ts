/** Explanations by error code of Node and the mail libraries. */
const UNREACHABLE: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'host not found'],
  ['EDNS', 'host not found'],
  ['EAI_AGAIN', 'the host name couldn’t be looked up'],
  ['EHOSTUNREACH', 'no route to the server'],
  ['ENETUNREACH', 'no route to the server'],
  ['ETIMEDOUT', 'no response in time'],
  ['ETIMEOUT', 'no response in time'],
  ['CONNECT_TIMEOUT', 'no response in time'],
  ['GREETING_TIMEOUT', 'no response in time'],
]);

/** Why a server can't be reached, by the code of the error; undefined for other codes. */
export const describeUnreachable = (code: string): string | undefined => UNREACHABLE.get(code);
