import { chosenSection, specifiedSection } from './requirement.ts';

/** Capabilities of the bridge: backups, speech. */
export const capabilities = [
  specifiedSection('interface 1, section 4.1', {
    'backup/export': '`backup.export` answers `{path, files}` of one zip, and `backup.status` lists the backups with path and size.',
  }),
  specifiedSection('interface 1, section 4.1, "Speech rules"', {
    'tts/params': 'Voice, rate and pitch have the given forms; anything else is INVALID_PARAMS.',
    'tts/speak': '`tts.speak` answers `{audio, mimeType, sizeBytes, voice}`, MP3 in base64, by an en-US female voice where none is given.',
    'tts/every-voice': '`tts.speak` takes every id that `tts.voices` lists.',
    'tts/voices': '`tts.voices` answers `{voices, count}`, each with id, name, language and gender.',
  }),
  chosenSection('decisions, "Devices, logs, system, usage, speech"', {
    'backup/restore':
      'A backup is brought back as a whole or not at all; nothing outside its folder is read; revoked devices stay revoked, and so do commands that ran without asking.',
    'tts/fallback':
      'Without the network’s voices the system’s engine speaks, with a `voice` that says so; without any, INTERNAL_ERROR says how to get one.',
    'tts/protocol-2': 'At protocol 2 `tts.speak` is NOT_IMPLEMENTED.',
  }),
];
