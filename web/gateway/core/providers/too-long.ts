/**
 * How servers say that a prompt does not fit the model's context; where they say of how many tokens that is, the first group has the number. OpenAI and what speaks like it, Mistral, xAI, vLLM,
 * Anthropic, Google, Ollama, llama.cpp, LM Studio, Bedrock.
 */
const WORDINGS = [
  /maximum context length (?:is|of) (\d+)/i,
  /too large for model with (\d+) maximum context length/i,
  /maximum prompt length is (\d+)/i,
  /prompt_tokens \(\d+\) must be less than max_seq_len \((\d+)\)/i,
  /too long to fit into the model \(context length (\d+)\)/i,
  /prompt is too long(?:: \d+ tokens > (\d+))?/i,
  /exceeds? (?:the )?(?:model's )?(?:maximum |max |available |model )?context (?:length|limit|size|window)(?:: \d+ \+ \d+ > (\d+))?/i,
  /input token count.{0,40}exceeds the maximum number of tokens allowed(?: \(?(\d+))?/i,
  /(?:prompt|input|request) (?:is )?too long/i,
  /greater than the context length/i,
  /exceeded max(?:imum)? context length/i,
];
const CODES = new Set(['context_length_exceeded', 'exceed_context_size_error', 'model_max_prompt_tokens_exceeded']);

/** What a refusal says of a context that the prompt does not fit: its tokens, where it tells them. */
export interface TooLong {
  contextTokens?: number | undefined;
}

/** Whether an upstream's fault tells that the prompt is too long for its model; undefined where not. A limit of tokens in a minute is none (HTTP 429). */
export function tooLongOf({ message, code }: { message: string; code?: string | undefined }, status?: number): TooLong | undefined {
  if (status === 429) return undefined;
  const plain = message.replaceAll(/(?<=\d),(?=\d{3})/g, '');
  const found = WORDINGS.map((wording) => wording.exec(plain)).filter((each) => each !== null);
  if (found.length === 0 && !CODES.has(code ?? '')) return undefined;
  const tokens = Number(found.flatMap(([, number]) => number ?? [])[0]);
  return tokens > 0 ? { contextTokens: tokens } : {};
}
