import type { DeliverOptions } from '#shared/rpc/delivery-target.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Settings } from '../../config/settings-schema.ts';
import { toPlainText } from '../../storage/session-views.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { LogWriter } from '../../system/log/log.ts';
import type { Lazy } from '../../system/modules.ts';
import type { DeliveryRequest } from './carrier.ts';
import type { Deliveries } from './deliveries.ts';

/** Reply of a run that has nothing to tell: it is not delivered. */
export const SILENT_REPLY = 'NOTHING_TO_REPORT';

/** Whether a reply says only that there is nothing to tell. */
export const isSilentReply = (text: string): boolean => text.replaceAll(/[*_`."'\s]/g, '') === SILENT_REPLY.replaceAll('_', '');

/** Result of a job, hook or heartbeat. */
export interface Outcome {
  isSuccess: boolean;
  /** The reply to deliver, if there is one. */
  messageId?: string | undefined;
  /** Why it failed. */
  error?: string | undefined;
}

interface OutcomeRequest extends Pick<DeliveryRequest, 'source' | 'title' | 'path' | 'by'> {
  /** The same for repeated calls about one outcome. */
  key: string;
  options: DeliverOptions;
  outcome: Outcome;
  /** Hash of the text of the outcome before, for `on-change`. */
  previousHash?: string | undefined;
}

export interface OutcomeDeliveryDeps {
  deliveries: Lazy<Pick<Deliveries, 'send'>>;
  vault: Pick<Vault, 'messages'>;
  settings(): Pick<Settings, 'deliveries'>;
  log: LogWriter;
}

/**
 * Delivers an outcome to the destinations of its options, as these and the reply say. Resolves with the hash of the reply's text, for the
 * next outcome, once the deliveries are stored.
 */
export async function deliverOutcome(
  { deliveries, vault, settings, log }: OutcomeDeliveryDeps,
  { key, options, outcome, previousHash, source, by, title, path }: OutcomeRequest,
): Promise<string | undefined> {
  const { when } = options;
  const { isSuccess, messageId, error } = outcome;
  if (isSuccess && when === 'on-failure') return undefined;
  const reply = isSuccess && messageId !== undefined ? await vault.messages.get(messageId) : undefined;
  const text = isSuccess ? toPlainText(reply?.content ?? '').trim() : `Failed: ${error ?? 'unknown reason'}`;
  if (text === '' || isSilentReply(text)) return undefined;
  const hash = await sha256(text);
  if (when === 'on-change' && hash === previousHash) return hash;
  await deliverText(
    { deliveries, settings, log },
    {
      ...{ key, options, text, source, by },
      ...(title === undefined ? {} : { title }),
      ...(path === undefined ? {} : { path }),
      ...(reply?.outside ? { outside: reply.outside, quotedUrls: reply.quotedUrls ?? [] } : {}),
    },
  );
  return hash;
}

interface TextRequest extends Omit<DeliveryRequest, 'target' | 'isForDigest'> {
  options: Pick<DeliverOptions, 'to' | 'digest'>;
}

/** Delivers a text to destinations. Resolves once the deliveries are stored. `key`: the same for repeated calls about one text. */
export async function deliverText(
  { deliveries, settings, log }: Pick<OutcomeDeliveryDeps, 'deliveries' | 'settings' | 'log'>,
  { key, options: { to, digest }, ...request }: TextRequest,
): Promise<void> {
  for (const targetId of to) {
    const destination = settings().deliveries.targets.find(({ id }) => id === targetId);
    if (!destination) {
      log.write('warn', 'deliveries', `The destination "${targetId}" does not exist any more`, { source: request.source });
      continue;
    }
    const { target } = destination;
    await (
      await deliveries.load()
    ).send({ ...request, key: `${key}:${targetId}`, target, ...(digest === true ? { isForDigest: true } : {}) });
  }
}
