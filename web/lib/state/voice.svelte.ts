import { DEFAULT_VOICE, SYSTEM_VOICE_ID, VOICE_ID } from '#shared/voice-id.ts';
import { gateway } from '#lib/gateway/connection.svelte.ts';
import { kept } from './kept.ts';

/** A voice of the browser, or, where it has none, of the gateway. */
export interface VoiceChoice {
  id: string;
  name: string;
  /** As in `en-US`. */
  language: string;
}

export const RATES = [0.75, 1, 1.25, 1.5, 2] as const;

const DEFAULT = { voice: '', rate: 1 };
/** Browsers that load their voices say so within this time. */
const VOICES_WITHIN_MS = 1_500;

/** The voice that reads replies aloud in this browser, and its speed. */
class Voice {
  /** Empty: the browser's own choice, or the gateway's. */
  voice = $state(DEFAULT.voice);
  /** Times the usual. */
  rate = $state(DEFAULT.rate);

  constructor() {
    this.#take(kept.read('voice'));
    kept.watch('voice', (value) => this.#take(value));
  }

  choose({ voice = this.voice, rate = this.rate }: { voice?: string; rate?: number }): void {
    this.voice = voice;
    this.rate = rate;
    kept.write('voice', voice === DEFAULT.voice && rate === DEFAULT.rate ? null : JSON.stringify({ voice, rate }));
  }

  /** The voices that there are, and whose they are. Rejects where there are none and the gateway cannot be asked. */
  async list(): Promise<{ of: 'browser' | 'gateway'; voices: VoiceChoice[] }> {
    const own = await browserVoices();
    if (own.length > 0) return { of: 'browser', voices: own.map(({ voiceURI, name, lang }) => ({ id: voiceURI, name, language: lang })) };
    const { voices } = await gateway.call('tts.voices', {});
    return { of: 'gateway', voices };
  }

  /** For `tts.speak`. */
  get forGateway(): { voice: string; rate: string } {
    const isKnown = VOICE_ID.test(this.voice) || SYSTEM_VOICE_ID.test(this.voice);
    const voice = isKnown ? this.voice : DEFAULT_VOICE;
    const percent = Math.round((this.rate - 1) * 100);
    return { voice, rate: `${percent < 0 ? '-' : '+'}${Math.abs(percent)}%` };
  }

  #take(value: string | null): void {
    ({ voice: this.voice, rate: this.rate } = chosenIn(value) ?? DEFAULT);
  }
}

/** By hand, for the chat page would load all of Zod for it. */
function chosenIn(value: string | null): typeof DEFAULT | null {
  try {
    const { voice, rate } = JSON.parse(value ?? '{}') as Partial<Record<keyof typeof DEFAULT, unknown>>;
    return typeof voice === 'string' && typeof rate === 'number' && rate >= 0.5 && rate <= 2 ? { voice, rate } : null;
  } catch {
    return null;
  }
}

/** The voices of this browser; some say what they have only after a while. */
export async function browserVoices(): Promise<SpeechSynthesisVoice[]> {
  if (typeof speechSynthesis === 'undefined') return [];
  if (speechSynthesis.getVoices().length === 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, VOICES_WITHIN_MS);
    speechSynthesis.addEventListener('voiceschanged', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
  return speechSynthesis.getVoices();
}

export const voice = new Voice();
