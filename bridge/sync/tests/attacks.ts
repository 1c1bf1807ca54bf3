import { type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { getStreamNames } from '#shared/sync/nats/vault-streams.ts';

/** Outcome of a request: not permitted, declined by the server, or done. */
type AttackOutcome = 'refused' | 'declined' | 'done';

interface Attack {
  subject: string;
  body?: object;
}

/**
 * All JetStream requests about a stream, in each way to name it. `consumer`: an existing consumer; `inbox`: subject on which the attacker
 * listens.
 */
export function listStreamRequests(
  stream: string,
  { subject, consumer, inbox }: Record<'subject' | 'consumer' | 'inbox', string>,
): Attack[] {
  const config = { name: 'attack', deliver_subject: `${inbox}.heard`, ack_policy: 'none', filter_subject: subject };
  const callApi = (words: string, body?: object): Attack => ({ subject: `$JS.API.${words}`, ...(body && { body }) });
  const create = { stream_name: stream, config };
  return [
    callApi(`STREAM.INFO.${stream}`),
    callApi(`STREAM.MSG.GET.${stream}`, { last_by_subj: subject }),
    callApi(`DIRECT.GET.${stream}`, { last_by_subj: subject }),
    callApi(`DIRECT.GET.${stream}.${subject}`),
    callApi(`CONSUMER.CREATE.${stream}.attack.${subject}`, create),
    callApi(`CONSUMER.CREATE.${stream}.attack`, { stream_name: stream, config: { ...config, filter_subject: undefined } }),
    callApi(`CONSUMER.CREATE.${stream}`, { stream_name: stream, config: { ...config, name: undefined } }),
    callApi(`CONSUMER.DURABLE.CREATE.${stream}.attack2`, {
      stream_name: stream,
      config: { ...config, name: undefined, durable_name: 'attack2' },
    }),
    callApi(`CONSUMER.NAMES.${stream}`),
    callApi(`CONSUMER.LIST.${stream}`),
    callApi(`CONSUMER.INFO.${stream}.${consumer}`),
    callApi(`CONSUMER.MSG.NEXT.${stream}.${consumer}`, { batch: 1, no_wait: true }),
    callApi(`STREAM.SNAPSHOT.${stream}`, { deliver_subject: `${inbox}.heard` }),
    callApi(`CONSUMER.DELETE.${stream}.${consumer}`),
    callApi(`STREAM.UPDATE.${stream}`, { name: stream, subjects: [subject], republish: { src: '>', dest: `${inbox}.heard.>` } }),
    callApi(`STREAM.MSG.DELETE.${stream}`, { seq: 1 }),
    callApi(`STREAM.PURGE.${stream}`),
    callApi(`STREAM.DELETE.${stream}`),
    callApi(`STREAM.RESTORE.${stream}`, { config: { name: stream, subjects: [subject] }, state: {} }),
  ];
}

/** Streams under the attacker's own or another name that would capture the victim's messages. */
export function listCaptureAttempts(name: string, victim: string): Attack[] {
  const { records } = getStreamNames(victim);
  const subject = `$JS.API.STREAM.CREATE.${name}`;
  return [
    { subject, body: { name, subjects: [`perch.${victim}.>`] } },
    { subject, body: { name, subjects: ['perch.>'] } },
    { subject, body: { name, subjects: [`_INBOX_${victim}.>`], no_ack: true } },
    { subject, body: { name, subjects: ['mine.>'], sources: [{ name: records }] } },
    { subject, body: { name, mirror: { name: records } } },
  ];
}

export async function attempt(nc: NatsConnection, { subject, body }: Attack): Promise<{ outcome: AttackOutcome; answer: string }> {
  try {
    const message = await nc.request(subject, body ? JSON.stringify(body) : '', { timeout: 1000 });
    const answer = message.string();
    return { outcome: message.headers?.code || /"error":/.test(answer) ? 'declined' : 'done', answer };
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    if (error instanceof PermissionViolationError || cause instanceof PermissionViolationError) return { outcome: 'refused', answer: '' };
    // No answer, or not from this server.
    return { outcome: 'declined', answer: String(error) };
  }
}

/** Whether the server permits subscribing to a subject. Messages are reported to `onheard`. */
export async function canSubscribe(nc: NatsConnection, subject: string, onheard: (subject: string) => void): Promise<boolean> {
  let isRefused = false;
  nc.subscribe(subject, {
    callback: (error, message) => {
      if (error) isRefused = true;
      else onheard(message.subject);
    },
  });
  await nc.flush();
  return !isRefused;
}
