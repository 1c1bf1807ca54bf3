import { chosenSection } from './requirement.ts';

/** `/v1/audio`, `/v1/images`, `/v1/completions` and `/openapi.json`. */
export const media = [
  chosenSection('decision 0109', {
    'http.media/speech': '`POST /v1/audio/speech` passes a provider’s audio on as it comes.',
    'http.media/own-voices': 'Perch’s voices take OpenAI’s voice names and speeds, and give MP3, WAV or PCM.',
    'http.media/encoded-voices':
      'Perch’s voices give Opus, AAC or FLAC if the browser can encode it; otherwise the error names formats that work.',
    'http.media/transcription': '`POST /v1/audio/transcriptions` passes a form with all its fields on, and records the usage.',
    'http.media/local-transcription': 'A Whisper model in the browser transcribes and translates audio files in all of OpenAI’s formats.',
    'http.media/translation': '`POST /v1/audio/translations` passes on alike.',
    'http.media/bad-forms': 'A broken, empty or incomplete form is a 400, a form over 32 MB a 413.',
    'http.media/which-provider': 'A task that no provider can do is an error that names the providers to add.',
    'http.media/bare-names': 'A bare model name goes to the hosted provider for the task, though its list hides the model.',
    'http.media/images': '`POST /v1/images/generations` and `/edits` pass on to servers of OpenAI’s format.',
    'http.media/drawn': 'Images of Google and OpenRouter, which chat models draw, come in OpenAI’s form.',
    'http.media/faults': 'Refusals and failures of the provider are errors of OpenAI’s form, without its key.',
    'http.media/hang-up': 'A caller that hangs up ends the request upstream.',
    'http.media/scopes': 'A key needs the scope `v1`.',
    'http.media/large-upload': 'An audio file of 25 MiB passes the bridge, the host and the bridge again.',
    'http.completions/passed': '`POST /v1/completions` passes on to a server that has it, streamed and not.',
    'http.completions/translated': 'For chat models and agents a prompt is a chat message, and the reply a text completion.',
    'http.completions/refused': 'Parameters that chat models and agents cannot honour are a 400 that names them, or ignored and named.',
    'http.openapi/routes': '`/openapi.json` describes every route that is served, and no other.',
    'http.openapi/contracts': 'Its schemas are made from the contracts that validate requests, and it is valid OpenAPI 3.1.',
  }),
];
