import { m } from '../i18n/messages.ts';

/** Speech recognition of browsers (Web Speech API, section 5.1), which TypeScript's DOM does not know. */
interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  processLocally?: boolean;
  onresult: ((event: { resultIndex: number; results: ArrayLike<ArrayLike<{ transcript: string }> & { isFinal: boolean }> }) => void) | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}

interface RecognitionConstructor {
  new (): Recognition;
  /** In newer browsers: whether speech can be recognized on this device (section 5.1.2). */
  available?(options: { langs: string[]; processLocally: boolean }): Promise<'unavailable' | 'downloadable' | 'downloading' | 'available'>;
}

const getRecognitionConstructor = (): RecognitionConstructor | undefined => {
  const { SpeechRecognition, webkitSpeechRecognition } = globalThis as {
    SpeechRecognition?: RecognitionConstructor;
    webkitSpeechRecognition?: RecognitionConstructor;
  };
  return SpeechRecognition ?? webkitSpeechRecognition;
};

export const canRecognizeSpeech = (): boolean => getRecognitionConstructor() !== undefined;

/** Whether speech of a language is recognized on this device, so that no audio is sent elsewhere. */
export async function isRecognizedLocally(language: string): Promise<boolean> {
  try {
    return (await getRecognitionConstructor()?.available?.({ langs: [language], processLocally: true })) === 'available';
  } catch {
    return false;
  }
}

/** Error codes of speech recognition (Web Speech API, section 5.1.5), as instructions for the person. */
const ERROR_TEXTS: Record<string, () => string> = {
  'not-allowed': () => m.chat_dictate_not_allowed(),
  'service-not-allowed': () => m.chat_dictate_service_not_allowed(),
  'audio-capture': () => m.chat_dictate_audio_capture(),
  'no-speech': () => m.chat_dictate_no_speech(),
  network: () => m.chat_dictate_network(),
  'language-not-supported': () => m.chat_dictate_language(),
};

interface RecognitionOptions {
  language: string;
  local: boolean;
  /** `settled`: final words, each reported once; `interim`: words that may still change. */
  onwords: (settled: string, interim: string) => void;
  /** Called at the end. `problem`: a sentence if it ended by itself because of an error. */
  onend: (problem: string | null) => void;
}

/** Starts speech recognition. `stop` waits for the last words; `abort` does not. Throws if the browser does not support it. */
export function startRecognition({ language, local, onwords, onend }: RecognitionOptions): { stop(): void; abort(): void } {
  const Recogniser = getRecognitionConstructor();
  if (!Recogniser) throw new Error(m.chat_dictate_cannot());
  const recognition = new Recogniser();
  let problem: string | null = null;
  recognition.lang = language;
  recognition.continuous = true;
  recognition.interimResults = true;
  if (local) recognition.processLocally = true;
  recognition.onresult = ({ resultIndex, results }) => {
    const newResults = Array.from(results).slice(resultIndex);
    const getTranscript = (selected: typeof newResults): string => selected.map((result) => result[0]?.transcript.trim() ?? '').join(' ');
    onwords(getTranscript(newResults.filter(({ isFinal }) => isFinal)), getTranscript(newResults.filter(({ isFinal }) => !isFinal)));
  };
  recognition.onerror = ({ error }) => {
    if (error !== 'aborted') problem = ERROR_TEXTS[error]?.() ?? m.chat_dictate_failed({ error });
  };
  recognition.onend = () => onend(problem);
  recognition.start();
  return {
    stop: () => recognition.stop(),
    abort: () => {
      recognition.onresult = null;
      recognition.abort();
    },
  };
}
