import type { Page } from 'playwright';

/** State of the browser's voices as `window.fakeVoices`: spoken texts, and a way to end the current one. */
export interface FakeVoices {
  spokenTexts: { text: string; rate: number; voice: string | null }[];
  silenced: number;
  /** Ends what is being said; `error`: with it. */
  end(error?: string): void;
}

/** A browser with two voices. Chromium without a screen has none. */
export const installFakeVoices = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const voices = [
      { voiceURI: 'one', name: 'First', lang: 'en-GB', default: true, localService: true },
      { voiceURI: 'two', name: 'Second', lang: 'de-DE', default: false, localService: true },
    ];
    class Utterance {
      rate = 1;
      lang = '';
      voice: { name: string } | null = null;
      onend?: () => void;
      onerror?: (event: { error: string }) => void;
      readonly text: string;
      constructor(text: string) {
        this.text = text;
      }
    }
    let speaking: Utterance | undefined;
    const fakeVoices: FakeVoices = {
      spokenTexts: [],
      silenced: 0,
      end(error) {
        const ended = speaking;
        speaking = undefined;
        if (error) ended?.onerror?.({ error });
        else ended?.onend?.();
      },
    };
    const synthesis = Object.assign(new EventTarget(), {
      getVoices: () => voices,
      speak(utterance: Utterance) {
        speaking = utterance;
        fakeVoices.spokenTexts.push({ text: utterance.text, rate: utterance.rate, voice: utterance.voice?.name ?? null });
      },
      cancel() {
        if (speaking) fakeVoices.silenced++;
        fakeVoices.end('canceled');
      },
    });
    Object.defineProperty(window, 'speechSynthesis', { value: synthesis });
    Object.assign(window, { SpeechSynthesisUtterance: Utterance, fakeVoices });
  });

/** Controls of a speech recognition as `window.fakeHearing`. */
export interface FakeRecognition {
  startCount: { lang: string; local: boolean }[];
  emitResult(words: string, isFinal: boolean): void;
  emitError(error: string): void;
}

/** Speech recognition that hears what a test says; a real one asks its maker's service. `local`: this device itself can do it. */
export const installFakeRecognition = (page: Page, local: boolean): Promise<unknown> =>
  page.addInitScript((onDevice) => {
    type Result = { transcript: string }[] & { isFinal?: boolean };
    const hearing: Recognition[] = [];
    class Recognition {
      static available = (): Promise<string> => Promise.resolve(onDevice ? 'available' : 'unavailable');
      lang = '';
      processLocally = false;
      onresult: ((event: { resultIndex: number; results: Result[] }) => void) | null = null;
      onerror: ((event: { error: string }) => void) | null = null;
      onend: (() => void) | null = null;
      results: Result[] = [];
      start(): void {
        fakeHearing.startCount.push({ lang: this.lang, local: this.processLocally });
        hearing.push(this);
      }
      stop(): void {
        if (hearing.pop()) this.onend?.();
      }
      abort(): void {
        this.stop();
      }
    }
    const fakeHearing: FakeRecognition = {
      startCount: [],
      emitResult(words, isFinal) {
        const [first] = hearing;
        if (!first) throw new Error('nobody listens');
        const { results } = first;
        const index = results.at(-1)?.isFinal === false ? results.length - 1 : results.length;
        results[index] = Object.assign([{ transcript: words }], { isFinal });
        first.onresult?.({ resultIndex: index, results });
      },
      emitError(error) {
        hearing[0]?.onerror?.({ error });
        hearing[0]?.stop();
      },
    };
    Object.assign(window, { SpeechRecognition: Recognition, webkitSpeechRecognition: Recognition, fakeHearing });
  }, local);
