/**
 * Messages of servers for a prompt that exceeds the model's context; if they report its tokens, the first group is the number. OpenAI and
 * compatible servers, Mistral, xAI, vLLM, Anthropic, Google, Ollama, llama.cpp, LM Studio, Bedrock.
 */
const OVERFLOW_PATTERNS = [
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
const OVERFLOW_CODES = new Set(['context_length_exceeded', 'exceed_context_size_error', 'model_max_prompt_tokens_exceeded']);

/** Details of an exceeded context: its tokens, if the server reports them. */
export interface ContextOverflow {
  contextTokens?: number | undefined;
}

/**
 * Parses an upstream error; undefined unless the prompt is too long for its model. A limit of tokens per minute (HTTP 429) is something
 * else.
 */
export function parseContextOverflow(
  { message, code }: { message: string; code?: string | undefined },
  status?: number,
): ContextOverflow | undefined {
  if (status === 429) return undefined;
  const plainMessage = message.replaceAll(/(?<=\d),(?=\d{3})/g, '');
  const matches = OVERFLOW_PATTERNS.map((wording) => wording.exec(plainMessage)).filter((each) => each !== null);
  if (matches.length === 0 && !OVERFLOW_CODES.has(code ?? '')) return undefined;
  const tokens = Number(matches.flatMap(([, number]) => number ?? [])[0]);
  return tokens > 0 ? { contextTokens: tokens } : {};
}
