import { chosenSection, specifiedSection } from './requirement.ts';

/** Models on the bridge's disk, and what runs them. */
export const localModels = [
  specifiedSection('interface 2, sections 3 and 4.1', {
    'cli.models/row': '`models download` makes a model present in `models local`, `models delete-local` absent, each with its flags.',
    'cli.models-select/row': '`models select` makes a model the default.',
  }),
  chosenSection('issue "The bridge’s capabilities", local models', {
    'gguf/extra':
      'What runs GGUF models is installed on demand into a folder of its own, tried there, seen to be of another version, and removed again.',
    'gguf/answer':
      'A GGUF model is loaded when it is asked first, answers in pieces and with true figures, and still knows what it has read.',
    'gguf/abort': 'A call that is not wanted any more is left off at once; the model stays loaded for the next.',
    'gguf/turns': 'One model is loaded at a time: calls wait for their turn, another model takes the place, and an idle one is unloaded.',
    'gguf/json': 'JSON that is wished for is held to a grammar, also one of a JSON Schema.',
    'gguf/tools': 'Tools, calls and results are told in the model’s own template.',
    'gguf/embed': 'A GGUF model makes vectors of texts.',
    'gguf/provider': 'Models on the bridge’s disk are listed with their context, and chat, agents and `/v1` have them.',
    'gguf/refusals': 'No such model, no memory for it, no room in its context, no extra: one clear error each.',
    'gguf/damaged': 'A cut or damaged file is one clear error; the runner is started again, nothing is left running.',
    'gguf/killed': 'A model’s process that dies is told of and started again, and none outlives the bridge.',
    'models/download': 'A download from either hub is checked against length and checksum, then listed; deleted, it is gone.',
    'models/resume': 'A download that broke off, or was left off, goes on where it stopped.',
    'models/choice': 'Without a file name the best quantisation is taken that fits this machine.',
    'models/hostile-hub': 'Whatever a hub does is one clear error, and leaves nothing that could be taken for a model.',
    'cli.models/default': 'Deleting the default model clears the setting `chat.model` and says so.',
    'cli.models/gateway': 'With `--url`, `--port`, `--token` or `--password`, the `models` commands act on the computer of that gateway.',
    'models.cli/errors': 'Each failure of the `models` commands is one line; exit 1, or 2 for wrong usage.',
    'models/refusals': 'No room on the disk, no such file, no such repository, no hub: one clear error each.',
  }),
  chosenSection('issue "The bridge’s capabilities", local models in the browser', {
    'browser-models/download':
      'A model for the browser is chosen by what runs it, fetched from a hub into the browser’s storage with its progress told, held to its length, and listed when it is whole.',
    'browser-models/resume':
      'A download into the browser that broke off, was left off or is asked for again goes on with the part that is missing.',
    'browser-models/hostile-hub':
      'Whatever a hub does to a browser is one clear error, and leaves nothing that could be taken for a model.',
    'browser-models/origins':
      'A hub may be asked from the worker only while a person’s download lasts, by the bridge’s way out or the browser’s own.',
    'browser-models/answer':
      'A model in the browser answers in pieces and with true figures, in a tab or the managed browser, and after a restart.',
    'browser-models/abort': 'An answer that is not wanted any more is left off, and the next one has its turn.',
    'browser-models/embed': 'A model in the browser makes vectors of texts.',
    'browser-models/transcribe': 'A Whisper model in the browser is downloaded with both of its graphs, and makes text of audio files.',
    'browser-models/text': 'A model’s thoughts are told from its answer, which ends before the texts at which it is to stop.',
    'browser-models/turns': 'One model in the browser is loaded at a time, by whatever page can, and unloaded when it is idle.',
    'browser-models/gone': 'The page that runs a model may go, hang or fail: one clear error, and another page goes on.',
    'browser-models/self-hosted':
      'What runs models in the browser is the app’s own, fetched when the first one is loaded and from nowhere else.',
  }),
  chosenSection('issue "The app", in-browser built-in models', {
    'built-in-model/answer':
      'Where the browser brings a model of its own it is listed and answers, in pieces and with true figures, in chats and by `/v1`, within its context and what it can be asked.',
    'built-in-model/fetch': 'One that the browser has still to fetch is fetched at a click, with its progress, and can be called off.',
    'built-in-model/none': 'Where there is none, or no page that has it, nothing of it shows.',
  }),
  chosenSection('issue "The bridge’s capabilities", local models', {
    'models.local/call': '`models.local` lists the models of the bridge’s disk and of the browser.',
    'models.download/call': '`models.download` begins a download that goes on without its caller, and tells of its progress.',
    'models.downloads/call': '`models.downloads` lists downloads for who comes later.',
    'models.cancelDownload/call': '`models.cancelDownload` ends a download; what is here stays.',
    'models.cancelDownload/forget':
      'One that is to be forgotten is listed no longer, and nothing of it stays; begun again, a download takes the place of what had become of it.',
    'models.deleteLocal/call': '`models.deleteLocal` deletes a model’s files.',
    'models.select/call': '`models.select` makes a model the default.',
    'models/persons': 'Only persons download, cancel, delete and select models.',
    'local-models/doctor':
      'The doctor says what runs local models and of which version, which of them cannot be run, and what room there is.',
    'mlx/answer':
      'On Apple silicon a model for MLX is run by `mlx_lm.server` on a port of this machine, started when it is asked first, and answers in pieces, with tools.',
    'mlx/ends':
      'What runs a model for MLX ends when it is idle, when another model is asked, and with the bridge; one that dies is told of and started again.',
    'mlx/refusals': 'Elsewhere, without the program, or for what cannot be done: one clear error each.',
    'mlx/download': 'A repository for MLX is fetched whole, listed when it is, and deleted whole.',
    'models/restart': 'A download to the bridge’s disk goes on when the bridge starts again.',
  }),
];
