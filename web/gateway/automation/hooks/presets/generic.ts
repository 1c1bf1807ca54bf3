import { truncateText } from '#shared/truncate-text.ts';
import { createReader, type Preset, readExcerpt } from './preset.ts';

const MAX_BODY_CHARS = 4_000;
const ID_HEADERS = ['webhook-id', 'idempotency-key'];

/** JSON of any sender, such as Standard Webhooks. Text in `text`, `message` or `title` is the summary, else the whole body. */
export const generic: Preset = {
  summarize(headers, payload) {
    const read = createReader(payload);
    const event = read('$.type') || read('$.event');
    const id = ID_HEADERS.map((name) => headers.get(name) ?? '').find((value) => value !== '');
    const text = ['$.text', '$.message', '$.title'].map((path) => readExcerpt(payload, path)).find((value) => value !== '');
    return {
      event,
      message: text ?? truncateText(JSON.stringify(payload, null, 2) ?? '', MAX_BODY_CHARS),
      ...(id === undefined ? {} : { id }),
    };
  },
  sample: { headers: {}, payload: { type: 'test', text: 'This call is a test of the hook.' } },
};
