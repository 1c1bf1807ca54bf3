import { DEFAULT_VOICE, SYSTEM_VOICE_ID_PATTERN, VOICE_ID_PATTERN } from '#shared/voice-id.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { safeLocalStorage } from './safe-local-storage.ts';

/** A voice of the browser, or of the gateway if the browser has none. */
interface VoiceChoice {
  id: string;
  name: string;
  /** As in `en-US`. */
  language: string;
}

export const RATES = [0.75, 1, 1.25, 1.5, 2] as const;

const DEFAULT_SETTINGS = { voice: '', rate: 1 };
/** Time in which browsers load their voices, in milliseconds. */
const VOICES_TIMEOUT_MS = 1_500;

/** The voice that reads replies aloud in this browser, and its speed. */
class Voice {
  /** Id of the voice; empty for the default of the browser or the gateway. */
  voice = $state(DEFAULT_SETTINGS.voice);
  /** Factor of the normal speed. */
  rate = $state(DEFAULT_SETTINGS.rate);

  constructor() {
    this.#applyStored(safeLocalStorage.read('voice'));
    safeLocalStorage.watch('voice', (value) => this.#applyStored(value));
  }

  choose({ voice = this.voice, rate = this.rate }: { voice?: string; rate?: number }): void {
    this.voice = voice;
    this.rate = rate;
    safeLocalStorage.write(
      'voice',
      voice === DEFAULT_SETTINGS.voice && rate === DEFAULT_SETTINGS.rate ? null : JSON.stringify({ voice, rate }),
    );
  }

  /** Loads the available voices; `of` is their source. Rejects if the browser has none and the gateway cannot be reached. */
  async loadVoices(): Promise<{ of: 'browser' | 'gateway'; voices: VoiceChoice[] }> {
    const browserVoices = await loadBrowserVoices();
    if (browserVoices.length > 0)
      return { of: 'browser', voices: browserVoices.map(({ voiceURI, name, lang }) => ({ id: voiceURI, name, language: lang })) };
    const { voices } = await gateway.call('tts.voices', {});
    return { of: 'gateway', voices };
  }

  /** Options for `tts.speak`. */
  get gatewayOptions(): { voice: string; rate: string } {
    const isKnown = VOICE_ID_PATTERN.test(this.voice) || SYSTEM_VOICE_ID_PATTERN.test(this.voice);
    const voice = isKnown ? this.voice : DEFAULT_VOICE;
    const percent = Math.round((this.rate - 1) * 100);
    return { voice, rate: `${percent < 0 ? '-' : '+'}${Math.abs(percent)}%` };
  }

  #applyStored(value: string | null): void {
    ({ voice: this.voice, rate: this.rate } = parseChosenVoice(value) ?? DEFAULT_SETTINGS);
  }
}

/** Parses a stored choice, without Zod, so that the chat page does not load it. */
function parseChosenVoice(value: string | null): typeof DEFAULT_SETTINGS | null {
  try {
    const { voice, rate } = JSON.parse(value ?? '{}') as Partial<Record<keyof typeof DEFAULT_SETTINGS, unknown>>;
    return typeof voice === 'string' && typeof rate === 'number' && rate >= 0.5 && rate <= 2 ? { voice, rate } : null;
  } catch {
    return null;
  }
}

/** Loads the voices of this browser; some browsers report them after a delay. */
export async function loadBrowserVoices(): Promise<SpeechSynthesisVoice[]> {
  if (typeof speechSynthesis === 'undefined') return [];
  if (speechSynthesis.getVoices().length === 0) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, VOICES_TIMEOUT_MS);
    speechSynthesis.addEventListener('voiceschanged', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
  }
  return speechSynthesis.getVoices();
}

export const voice = new Voice();
