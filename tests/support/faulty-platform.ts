import type { Carrier } from '../../web/gateway/automation/deliveries/carrier.ts';
import type { SentReceipt } from '../../web/gateway/automation/channels/channel-adapter.ts';
import { PlatformError } from '../../web/gateway/automation/channels/platform-request.ts';
import type { FakeClock } from './fake-clock.ts';

interface PlatformMessage {
  id: string;
  to: string;
  text: string;
}

type Fault = 'none' | 'busy' | 'limited' | 'refused' | 'lostRequest' | 'lostResponse' | 'slow' | 'cut';

interface FaultyPlatformOptions {
  clock: FakeClock;
  random(max: number): number;
  /** Share of requests that fail, in percent. */
  faultPercent: number;
  /** Called with receipts, some twice, some before the response and some in the wrong order. */
  onReceipts(receipts: SentReceipt[]): void;
}

const FAULTS: readonly Fault[] = ['busy', 'busy', 'limited', 'refused', 'lostRequest', 'lostResponse', 'lostResponse', 'slow'];
/** Time after which a slow platform still carries out a request that the client has given up. */
const SLOW_MS = 10_000;
const PIECE_CHARS = 100;

const toPieces = (text: string): string[] => text.match(new RegExp(`.{1,${PIECE_CHARS}}`, 'gs')) ?? [];

/**
 * A messaging platform in memory that fails, is slow, loses responses after it has accepted a message, repeats and reorders receipts.
 * Targets whose name begins with `find` can be asked what they have; the others cannot.
 */
export class FaultyPlatform {
  readonly messages: PlatformMessage[] = [];
  readonly refusedTexts = new Set<string>();
  readonly #options: FaultyPlatformOptions;
  readonly #held: SentReceipt[] = [];
  #count = 0;

  constructor(options: FaultyPlatformOptions) {
    this.#options = options;
  }

  readonly carrier: Carrier = {
    send: async ({ target, text }, { sentIds, onSent }) => {
      const to = getAddress(target);
      const ids = [...sentIds];
      for (const piece of toPieces(text).slice(sentIds.length)) {
        const id = await this.#post(to, piece);
        ids.push(id);
        await onSent(id);
      }
      return { state: 'accepted', sentIds: ids };
    },
    find: async ({ target, text }, { sentIds }) => {
      const to = getAddress(target);
      if (!to.startsWith('find')) return undefined;
      if (this.#options.random(100) < this.#options.faultPercent)
        throw new PlatformError('The platform is unavailable.', { isUnsent: true });
      const piece = toPieces(text)[sentIds.length];
      return this.messages.find((message) => message.to === to && message.text === piece && !sentIds.includes(message.id))?.id ?? null;
    },
  };

  async #post(to: string, text: string): Promise<string> {
    const { random, faultPercent, clock } = this.#options;
    const fault = random(100) < faultPercent ? (FAULTS[random(FAULTS.length)] ?? 'none') : 'none';
    switch (fault) {
      case 'busy':
        throw new PlatformError('The platform is unavailable (503).', { status: 503, isUnsent: true });
      case 'limited':
        throw new PlatformError('The platform is limiting requests.', { status: 429, isUnsent: true, retryAfterMs: 1000 });
      case 'refused':
        // Most refusals are of the sender, not of the message.
        if (random(20) > 0) throw new PlatformError('The platform is unavailable (502).', { status: 502, isUnsent: true });
        this.refusedTexts.add(text);
        throw new PlatformError('The platform rejected the message (400).', { status: 400, isUnsent: true, refused: true });
      case 'lostRequest':
        throw new PlatformError('The connection to the platform was lost.');
      case 'lostResponse':
        this.#accept(to, text);
        throw new PlatformError('The platform did not respond within 30 s.');
      case 'slow':
        clock.after(SLOW_MS, () => this.#accept(to, text));
        throw new PlatformError('The platform did not respond within 30 s.');
      default:
        return this.#accept(to, text);
    }
  }

  #accept(to: string, text: string): string {
    const { random, clock } = this.#options;
    const id = `m${++this.#count}`;
    this.messages.push({ id, to, text });
    const states: SentReceipt['state'][] = random(2) === 0 ? ['delivered'] : ['read', 'delivered'];
    for (const state of states) {
      this.#held.push({ sentId: id, state, at: clock.now() });
      if (random(4) === 0) this.#held.push({ sentId: id, state, at: clock.now() });
    }
    // Some receipts arrive before the response, others much later.
    if (random(3) === 0) this.flush();
    return id;
  }

  /** Sends the receipts, the newest first. */
  flush(): void {
    this.#options.onReceipts(this.#held.splice(0).reverse());
  }
}

const getAddress = (target: Parameters<Carrier['send']>[0]['target']): string => (target.kind === 'channel' ? (target.to ?? '') : '');
