import { chosenSection, specifiedSection } from './requirement.ts';

/** Reading documents and pages. */
export const reading = [
  specifiedSection('interface 2, agent tools', {
    'office/pdf': '`read_pdf` gives the text of a PDF page by page, in reading order, with tables where it is drawn in columns.',
    'office/ocr': 'Pages of a PDF that are pictures are read by Tesseract in a worker, with language data from an address that can be set.',
    'office/annotations': 'Filled form fields and notes of a PDF are part of its pages’ text.',
    'office/turned': 'Text that stands upside down, mirrored, turned or from right to left is read in its own direction.',
    'office/docx':
      '`read_docx` gives the text of a word-processor file, with headings, lists, tables, charts, diagrams, equations and notes.',
    'office/xlsx': '`read_xlsx` gives the cells of sheets as tables, as they are shown, with the values of formulas.',
    'office/pptx': '`read_pptx` gives the text of slides in their order, with tables, charts, diagrams and the speaker’s notes.',
  }),
  chosenSection('decisions, "Cron, tools …"', {
    'office/text': '`read_text` gives the text of plain files in the usual encodings.',
    'office/bounded': 'A result is bounded, and says with what to go on; nothing is lost or told twice between the parts.',
    'office/refuses': 'Encrypted, old, broken, cut off and scanned files give a sentence that says so.',
    'office/attachments':
      'The tools read what is attached in the chat or lies in the agent’s workspace, and say what there is; the model is told which tool reads a file.',
    'office/untrusted': 'What comes from a file or a page is marked as data from outside.',
    'office/lent':
      'Documents are read in a worker that a page lends, one at a time, ended when it takes too long; without a page the gateway reads.',
    'web/readable': 'A page is given as Markdown: its article with author and date, or its main part, or all of it if asked.',
    'web/cache': 'A fetched page is kept in memory as its server allows, and asked for again on request; it taints as when it was fetched.',
    'web/fetch':
      '`web_fetch` follows redirects, tells title and final address, and reads pages, PDFs and text of bounded size in bounded time.',
  }),
  chosenSection('issue "Collections with citations, the web", the web', {
    'search.web/services':
      '`web_search` finds pages by Brave, Tavily, Exa, an own SearXNG, or the search of OpenAI, Anthropic and Google, each in its own protocol.',
    'search.web/errors': 'A search that fails says why: no key, a wrong key, a used-up quota, a limit and its wait, a broken answer.',
    'research/report':
      'The agent `researcher` makes a plan, lets sub-agents search and read side by side, and ends in a report whose sources open.',
    'research/continues': 'A research that was stopped ends with its sub-agents, and continues its plan.',
    'research/agent':
      'The agent exists while a search service is set up, with few tools and no memories; the owner’s settings replace its own.',
    'search.web/hosted':
      'A hosted web search in a request to `/v1/responses` runs as Perch’s own; without a search service it is named as ignored.',
    'search.web/off': 'A chat whose web is turned off gets no tools that search or read the web, and neither do its sub-agents.',
    'search.web/tool':
      'The tool `web_search` is offered once a service is set up; its results are numbered for citations, taint the run and need no approval.',
  }),
  chosenSection('quality, "Security"', {
    'office/bombs': 'Zip bombs, entity bombs and absurdly nested files are refused, in bounded memory.',
    'web/picture': 'Pictures (PNG, JPEG, GIF, WebP, AVIF) are fetched where one is wanted, and refused where a page is.',
    'web/ssrf':
      'Only what is public is asked, however the address is written and wherever a name or a redirect leads; private places only where the person named them.',
    'egress/resolved':
      'A name that leads to where clouds keep credentials, or to a link-local or multicast address, is refused when it is connected to.',
  }),
];
