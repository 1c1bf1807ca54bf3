import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Voice } from '#shared/rpc/methods/tts-contracts.ts';
import type { ProcessKeeper } from '../../processes/process-keeper.ts';
import { runManagedProgram } from '../../processes/run-managed-program.ts';
import { encodeMp3 } from './encode-mp3.ts';
import type { Utterance } from './neural-voices.ts';

const SPEAK_MS = 60_000;
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
const MAX_ERROR_CHARS = 1000;

/** A speech engine of the system, which may not be installed. */
export interface SystemEngine {
  /** Name such as `espeak-ng`. */
  name: string;
  voices(signal: AbortSignal): Promise<Voice[]>;
  /**
   * Returns a WAV file, spoken by the voice with this id, or one for the language of another voice. Rate and pitch depend on the program.
   */
  speak(utterance: Utterance, signal: AbortSignal): Promise<{ wav: Buffer; voice: string }>;
}

/** Engines of a platform in order of preference. */
export function createSystemEngines(keeper: Pick<ProcessKeeper, 'keep'>, platform: NodeJS.Platform = process.platform): SystemEngine[] {
  const run = createRunner(keeper);
  if (platform === 'darwin') return [createSay(run)];
  if (platform === 'win32') return [createSapi(run)];
  return [createEspeak('espeak-ng', run), createEspeak('espeak', run)];
}

/** Speaks with the first available engine. Returns MP3; undefined if there is no engine. */
export async function speakWithSystem(
  engines: readonly SystemEngine[],
  utterance: Utterance,
  signal: AbortSignal,
): Promise<{ mp3: Buffer; voice: string } | undefined> {
  const spoken = await speakWav(engines, utterance, signal);
  return spoken && { mp3: await encodeMp3(spoken.wav, signal), voice: spoken.voice };
}

/** Like `speakWithSystem`, but returns the engine's WAV file. */
export async function speakWav(
  engines: readonly SystemEngine[],
  utterance: Utterance,
  signal: AbortSignal,
): Promise<{ wav: Buffer; voice: string } | undefined> {
  for (const engine of engines) {
    try {
      const { wav, voice } = await engine.speak(utterance, signal);
      return { wav, voice: `system:${engine.name}:${voice}` };
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return undefined;
}

export async function listSystemVoices(engines: readonly SystemEngine[], signal: AbortSignal): Promise<Voice[]> {
  for (const engine of engines) {
    try {
      // eSpeak has several voices per language and picks the first one.
      const byId = new Map((await engine.voices(signal)).toReversed().map((voice) => [voice.id, voice]));
      return [...byId.values()].toReversed().map((voice) => ({ ...voice, id: `system:${engine.name}:${voice.id}` }));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return [];
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Runs a program with the text to speak on standard input. */
type RunEngine = (program: string, args: readonly string[], input: string, signal: AbortSignal) => Promise<Buffer>;

const createRunner =
  (keeper: Pick<ProcessKeeper, 'keep'>): RunEngine =>
  async (program, args, input, signal) => {
    const { stdout, stderr, code } = await runManagedProgram([program, ...args], {
      keeper,
      maxBuffer: MAX_OUTPUT_BYTES,
      signal,
      timeout: SPEAK_MS,
      input,
    });
    if (code !== 0) throw new Error(`${program} failed (${code ?? 'killed by a signal'}): ${stderr.toString().slice(0, MAX_ERROR_CHARS)}`);
    return stdout;
  };

const toPercent = (rate: string): number => Number.parseInt(rate, 10);
const toHertz = (pitch: string): number => Number.parseInt(pitch, 10);
/** Returns the engine's own id of a voice; undefined for other engines' voices. */
const toEngineVoiceId = (engine: string, voice: string): string | undefined =>
  voice.startsWith(`system:${engine}:`) ? voice.slice(`system:${engine}:`.length) : undefined;
const toLanguage = (voice: string): string => voice.split('-', 2).join('-');
const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, Math.round(value)));

/** eSpeak's defaults are 175 words per minute and a pitch of 50 out of 99; one hertz is about half a unit of pitch. */
function createEspeak(program: string, run: RunEngine): SystemEngine {
  const list = async (signal: AbortSignal): Promise<Voice[]> => {
    const lines = (await run(program, ['--voices'], '', signal)).toString().split('\n').slice(1);
    return lines.flatMap((line) => {
      const [, , language, sex, name] = /^\s*(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)/.exec(line) ?? [];
      if (language === undefined || name === undefined) return [];
      const gender = sex?.endsWith('F') ? 'Female' : sex?.endsWith('M') ? 'Male' : 'Neutral';
      return [{ id: language, name: name.replaceAll('_', ' '), language, gender }];
    });
  };
  return {
    name: program,
    voices: list,
    async speak({ text, voice, rate, pitch }, signal) {
      const engineVoice = toEngineVoiceId(program, voice);
      const languages = new Set((await list(signal)).map(({ language }) => language.toLowerCase()));
      const requestedLanguage = toLanguage(voice).toLowerCase();
      const [short = 'en'] = requestedLanguage.split('-');
      const chosen = engineVoice ?? [requestedLanguage, short].find((each) => languages.has(each)) ?? 'en';
      const args = ['--stdout', '--stdin', '-v', chosen, '-s', String(clamp(175 * (1 + toPercent(rate) / 100), 80, 450))];
      const wav = await run(program, [...args, '-p', String(clamp(50 + toHertz(pitch) / 2, 0, 99))], text, signal);
      return { wav, voice: chosen };
    },
  };
}

/** Runs `work` with a temporary folder, which is then deleted. */
async function withTempFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'perch-speech-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** macOS. Does not support pitch. */
function createSay(run: RunEngine): SystemEngine {
  const voices = async (signal: AbortSignal): Promise<Voice[]> => {
    const lines = (await run('say', ['-v', '?'], '', signal)).toString().split('\n');
    return lines.flatMap((line) => {
      const [, name, language] = /^(.+?)\s+([a-z]{2,3}_[A-Z0-9]+)\s+#/.exec(line) ?? [];
      return name === undefined || language === undefined
        ? []
        : [{ id: name, name, language: language.replace('_', '-'), gender: 'Neutral' }];
    });
  };
  return {
    name: 'say',
    voices,
    speak: ({ text, voice, rate }, signal) =>
      withTempFolder(async (folder) => {
        const language = toLanguage(voice);
        const engineVoice = toEngineVoiceId('say', voice);
        const chosen = (await voices(signal)).find((each) =>
          engineVoice === undefined ? each.language === language : each.id === engineVoice,
        );
        const file = join(folder, 'speech.wav');
        const args = ['-o', file, '--data-format=LEI16@22050', '-r', String(clamp(175 * (1 + toPercent(rate) / 100), 80, 450))];
        await run('say', [...args, ...(chosen ? ['-v', chosen.id] : []), '-f', '-'], text, signal);
        return { wav: await readFile(file), voice: chosen?.id ?? 'default' };
      }),
  };
}

/** Windows. Rates range from −10 to 10; does not support pitch. */
const createSapi = (run: RunEngine): SystemEngine => ({
  name: 'sapi',
  async voices(signal) {
    const script =
      'Add-Type -AssemblyName System.Speech; (New-Object System.Speech.Synthesis.SpeechSynthesizer).GetInstalledVoices() | % { $i = $_.VoiceInfo; "$($i.Name)|$($i.Culture)|$($i.Gender)" }';
    const lines = (await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], '', signal))
      .toString()
      .split(/\r?\n/);
    return lines.flatMap((line) => {
      const [name, language, gender] = line.split('|');
      return name && language && gender ? [{ id: name, name, language, gender }] : [];
    });
  },
  speak: ({ text, voice, rate }, signal) =>
    withTempFolder(async (folder) => {
      const file = join(folder, 'speech.wav');
      // Text and file name are passed on standard input, so that they are never interpreted as a script.
      const script =
        'Add-Type -AssemblyName System.Speech; [Console]::InputEncoding = [Text.Encoding]::UTF8; $in = [Console]::In.ReadToEnd() | ConvertFrom-Json; $s = New-Object System.Speech.Synthesis.SpeechSynthesizer; $s.Rate = $in.rate; try { if ($in.voice) { $s.SelectVoice($in.voice) } else { $s.SelectVoiceByHints("NotSet", "NotSet", 0, $in.language) } } catch {}; $s.SetOutputToWaveFile($in.file); $s.Speak($in.text); $s.Dispose(); $s.Voice.Name';
      const input = JSON.stringify({
        text,
        file,
        voice: toEngineVoiceId('sapi', voice) ?? null,
        language: toLanguage(voice),
        rate: clamp(toPercent(rate) / 10, -10, 10),
      });
      const name = (await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], input, signal)).toString().trim();
      return { wav: await readFile(file), voice: name || 'default' };
    }),
});
