import type { ModelEntry } from '#shared/rpc/records.ts';

/** Words by which vendors name their small chat models. */
const SMALL = /(?:^|[-_./])(?:mini|nano|luna|haiku|flash|lite|small|instant|fast|ministral|(?:[1-9]|[12]\d|3[0-2])b)(?=$|[-_.:])/i;
/** Models of the same families for other work, and free variants, which have low rate limits and may train on prompts. */
const OTHER_WORK =
  /audio|realtime|tts|transcri|speech|voice|image|video|embed|search|moderat|guard|safety|cod(?:e|ing|ex|estral)|live|ocr|math|robot|computer|research|translat|:free$/i;
/** Context in tokens that small work needs. */
const MIN_CONTEXT = 32_000;

/**
 * The cheapest small chat model listed beside `chat`; undefined if there is none below its price. `byName`: the vendor is known, so that a small model's name is
 * enough if its price is not known.
 */
export function findSmallModel(chat: ModelEntry, listed: readonly ModelEntry[], { byName }: { byName: boolean }): ModelEntry | undefined {
  const maker = getMaker(chat);
  const limit = getPrice(chat) ?? (isSmall(chat) ? 0 : Infinity);
  const candidates = listed.filter(
    (model) =>
      model.key !== chat.key && getMaker(model) === maker && isSmall(model) && (model.context_window ?? MIN_CONTEXT) >= MIN_CONTEXT,
  );
  const priced = candidates
    .flatMap((model) => ({ model, price: getPrice(model) ?? Infinity }))
    .filter(({ price }) => price < limit)
    .sort((a, b) => a.price - b.price);
  if (priced[0]) return priced[0].model;
  return byName && !isSmall(chat) ? candidates.find((model) => getPrice(model) === null) : undefined;
}

const isSmall = ({ model_id: id }: ModelEntry): boolean => SMALL.test(id) && !OTHER_WORK.test(id);

/** On a server with models of several vendors, the part of the name that says whose it is. */
const getMaker = ({ model_id: id }: ModelEntry): string => id.slice(0, id.lastIndexOf('/') + 1);

/** Price of three tokens of input and one of output; a thinking model writes more. */
function getPrice({ cost_per_1m_input: input, cost_per_1m_output: output, supports_thinking: thinks }: ModelEntry): number | null {
  return input === null || output === null ? null : 3 * input + (thinks ? 2 : 1) * output;
}
