import { AuthorizationError, ConnectionError, NoRespondersError, TimeoutError, UserAuthenticationExpiredError } from '@nats-io/nats-core';
import { JetStreamApiError } from '@nats-io/jetstream';

/**
 * Why the cluster cannot be used. `unreachable`: no server answers, or too few. `refused`: access or a required permission is denied, or
 * the server is not trusted. `unfit`: it has no JetStream, or the stream was not created by Perch. `full`: it is out of storage. `failed`:
 * anything else.
 */
type ClusterProblemCode = 'unreachable' | 'refused' | 'unfit' | 'full' | 'failed';

/** A problem of the cluster, as a sentence for the person. */
export class ClusterProblem extends Error {
  override name = 'ClusterProblem';
  readonly code: ClusterProblemCode;

  constructor(code: ClusterProblemCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

// JetStream's own codes (github.com/nats-io/nats-server, server/errors.json).
const FULL_CODES = new Set([10023, 10028, 10047, 10077, 10122]);
const NO_LEADER_CODES = new Set([10008, 10009, 10118]);
const TOO_FEW_SERVERS_CODES = new Set([10005, 10074]);
const WRONG_SEQUENCE_CODES = new Set([10071, 10164]);

/** The subject was written by another host in the meantime. */
export const isWrongSequence = (error: unknown): boolean => error instanceof JetStreamApiError && WRONG_SEQUENCE_CODES.has(error.code);

/** No server provides JetStream, or not for this account (then that is the cause). */
export const isWithoutJetStream = (error: unknown): error is Error => error instanceof Error && error.name === 'JetStreamNotEnabled';

/** The connecting side, and how errors of its transport are classified: a sentence for a refusal, or true for a network failure. */
interface ClusterClient {
  who: 'bridge' | 'browser';
  refusal?(error: Error): string | undefined;
  isNetwork?(error: Error): boolean;
}

export function toClusterProblem(error: unknown, { who, refusal, isNetwork }: ClusterClient): ClusterProblem {
  if (error instanceof ClusterProblem) return error;
  const message = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
  const createProblem = (code: ClusterProblemCode, sentence: string): ClusterProblem =>
    new ClusterProblem(code, sentence, { cause: error });
  if (error instanceof JetStreamApiError && FULL_CODES.has(error.code))
    return createProblem('full', `The cluster is out of storage (${message})`);
  if (error instanceof JetStreamApiError && NO_LEADER_CODES.has(error.code))
    return createProblem('unreachable', `Too few servers of the cluster are online (${message})`);
  if (error instanceof JetStreamApiError && TOO_FEW_SERVERS_CODES.has(error.code))
    return createProblem('unfit', `Too few servers can store the vault. Start more servers or use fewer replicas (${message})`);
  if (isWithoutJetStream(error))
    return error.cause instanceof JetStreamApiError
      ? createProblem('unfit', 'The server doesn’t have JetStream for this account')
      : createProblem('unreachable', 'JetStream is not responding: too few servers of the cluster are online');
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (
      cause instanceof AuthorizationError ||
      cause instanceof UserAuthenticationExpiredError ||
      /authorization violation/i.test(cause.message)
    )
      return createProblem('refused', `The cluster denied access to this ${who}: its credentials are wrong or expired`);
    if (/permissions? violation/i.test(cause.message))
      return createProblem('refused', `The cluster denied a permission that this ${who} needs (${message})`);
    const refused = refusal?.(cause);
    if (refused !== undefined) return createProblem('refused', `${refused} (${message})`);
  }
  if (
    error instanceof NoRespondersError ||
    error instanceof TimeoutError ||
    error instanceof ConnectionError ||
    (error instanceof Error && (isNetwork?.(error) || /closed|timeout|no responders|disconnect/i.test(error.message)))
  )
    return createProblem('unreachable', `Couldn’t reach the cluster (${message})`);
  return createProblem('failed', `The cluster can’t be used (${message})`);
}
