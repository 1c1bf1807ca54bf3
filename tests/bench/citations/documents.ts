/** A document of the citation bench. Documents of one group are near-duplicates with different facts. */
export interface BenchDocument {
  id: string;
  group: string;
  title: string;
  text: string;
}

const toDocuments = (group: string, documents: Record<string, [title: string, text: string]>): BenchDocument[] =>
  Object.entries(documents).map(([id, [title, text]]) => ({ id, group, title, text }));

/** 50 documents, written for this bench. */
export const DOCUMENTS: readonly BenchDocument[] = [
  ...toDocuments('bridges', {
    norvik: [
      'Norvik Harbour Bridge',
      'The Norvik Harbour Bridge opened to traffic on 14 May 1932. It is 503 metres long and carries six lanes of traffic and two railway tracks. The steel arch was designed by Hanne Lindqvist. Cyclists use a separate path on the western side. The bridge is repainted every twelve years. Lorries heavier than 40 tonnes are not allowed to cross.',
    ],
    aalby: [
      'Aalby Harbour Bridge',
      'The Aalby Harbour Bridge opened to traffic on 3 June 1938. It is 430 metres long and carries four lanes of traffic and no railway. The suspension bridge was designed by Peter Dahlmann. Pedestrians use a path on the eastern side, which is closed at night. The bridge is repainted every eight years. Lorries heavier than 30 tonnes are not allowed to cross.',
    ],
  }),
  ...toDocuments('kettles', {
    k100: [
      'Brenna K100 kettle: manual',
      'The Brenna K100 holds 1.2 litres and has a power of 2,000 watts. It switches itself off when the water boils. Descale the kettle once a month with vinegar. The lid must not be opened while the water is boiling. The warranty lasts two years. The K100 is not dishwasher safe.',
    ],
    k200: [
      'Brenna K200 kettle: manual',
      'The Brenna K200 holds 1.7 litres and has a power of 2,400 watts. It keeps water warm for 30 minutes after boiling. Descale the kettle every three months with citric acid. The filter can be removed for cleaning. The warranty lasts three years. The filter of the K200 is dishwasher safe, the kettle itself is not.',
    ],
  }),
  ...toDocuments('leave', {
    leave2022: [
      'Leave policy 2022',
      'Employees receive 25 days of paid leave per year. Up to five unused days may be carried over until 31 March. Requests must be submitted two weeks in advance. Leave is not paid out in cash. Part-time staff receive leave in proportion to their hours. Parental leave lasts 14 weeks.',
    ],
    leave2024: [
      'Leave policy 2024',
      'Employees receive 28 days of paid leave per year. Up to ten unused days may be carried over until 30 June. Requests must be submitted three weeks in advance. Leave is not paid out in cash, except when a contract ends. Part-time staff receive leave in proportion to their hours. Parental leave lasts 18 weeks.',
    ],
    travel: [
      'Travel expenses',
      'Employees may travel by train in second class. Flights need the approval of a director if they cost more than 400 euros. Hotel costs are refunded up to 120 euros per night. Receipts must be handed in within 30 days. Taxis are refunded only between 22:00 and 6:00. Alcohol is never refunded.',
    ],
  }),
  ...toDocuments('hotels', {
    seeblick: [
      'Hotel Seeblick',
      'The Hotel Seeblick has 48 rooms and stands directly on the lake shore. Breakfast is served from 7:00 to 10:30. Dogs are welcome for 15 euros per night. The indoor pool is open all year. Check-in starts at 15:00. Parking in the garage costs 12 euros per day.',
    ],
    bergblick: [
      'Hotel Bergblick',
      'The Hotel Bergblick has 36 rooms and lies above the village at 1,240 metres. Breakfast is served from 6:30 to 10:00. Dogs are not allowed. The outdoor pool is open from May to September. Check-in starts at 14:00. Parking in front of the hotel is free.',
    ],
  }),
  ...toDocuments('medicines', {
    alvoxin: [
      'Alvoxin 10 mg: patient leaflet',
      'Alvoxin is used to treat high blood pressure in adults. The usual dose is one 10 mg tablet in the morning. Do not take Alvoxin with grapefruit juice. Common side effects are headache and dizziness. Alvoxin must not be taken during pregnancy. Store the tablets below 25 °C.',
    ],
    belmarin: [
      'Belmarin 20 mg: patient leaflet',
      'Belmarin is used to treat hay fever in adults and in children over twelve years. The usual dose is one 20 mg tablet in the evening. Belmarin may be taken with or without food. Common side effects are tiredness and a dry mouth. Belmarin can be taken during pregnancy if a doctor agrees. Store the tablets below 30 °C.',
    ],
  }),
  ...toDocuments('breads', {
    rye: [
      'Rye bread',
      'Mix 500 g of rye flour with 350 ml of warm water, 10 g of salt and 100 g of sourdough. Let the dough rest for 12 hours in a cool place. Bake the bread at 230 °C for 15 minutes, then at 190 °C for 45 minutes. Do not cut the bread before the next day. It keeps for about a week.',
    ],
    wheat: [
      'White bread',
      'Mix 500 g of wheat flour with 300 ml of water, 8 g of salt and 7 g of dry yeast. Let the dough rise for 90 minutes in a warm place. Bake the bread at 220 °C for 35 minutes. It tastes best on the same day. Olive oil can be added for a softer crumb.',
    ],
  }),
  ...toDocuments('museums', {
    maritime: [
      'Maritime Museum Gellinge',
      'The Maritime Museum in Gellinge was founded in 1961 by retired sailors. It shows more than 300 ship models and a whaling boat from 1884. The museum is open from Tuesday to Sunday, 10:00 to 17:00. It is closed on Mondays. Admission is 9 euros, and free for children under 14. Photography without flash is permitted.',
    ],
    textile: [
      'Textile Museum Gellinge',
      'The Textile Museum in Gellinge was founded in 1978 in a former spinning mill. It shows 45 looms, eight of which still work. The museum is open from Wednesday to Sunday, 11:00 to 18:00. Admission is 7 euros, and free for children under 12. Guided tours take place on Saturdays. Photography is not permitted.',
    ],
  }),
  ...toDocuments('reports', {
    lumetra22: [
      'Lumetra annual report 2022',
      'In 2022 Lumetra had a revenue of 84.3 million euros, 6 percent more than in the year before. The operating profit fell to 5.1 million euros. The company employed 612 people at the end of the year. Sales in Asia declined, while sales in Europe rose. No dividend was paid.',
    ],
    lumetra23: [
      'Lumetra annual report 2023',
      'In 2023 Lumetra had a revenue of 91.7 million euros, 9 percent more than in the year before. The operating profit rose to 7.4 million euros. The company employed 655 people at the end of the year. A factory in Brno was opened in October. A dividend of 0.40 euros per share was paid.',
    ],
    corvane23: [
      'Corvane annual report 2023',
      'In 2023 Corvane had a revenue of 77.2 million euros, 3 percent less than in the year before. The operating profit fell to 2.8 million euros. Corvane sold its sensor division to Lumetra for 11 million euros. The company employed 540 people at the end of the year. Maria Okonjo became chief executive in April.',
    ],
  }),
  ...toDocuments('software', {
    quill3: [
      'Quillbase 3 release notes',
      'Quillbase 3 was released on 12 March 2021. It adds full-text search and a command line tool. The maximum size of a document is 16 MB. Windows 7 is no longer supported. Backups are written once a day by default. The import of spreadsheets is experimental.',
    ],
    quill4: [
      'Quillbase 4 release notes',
      'Quillbase 4 was released on 9 September 2023. It adds vector search and a web console. The maximum size of a document is 64 MB. Windows 8 is no longer supported. Backups are written every hour by default. The command line tool was removed.',
    ],
    limits: [
      'Quillbase Cloud: limits of the API',
      'Each key may send 600 requests per minute. A request that exceeds the limit receives the status 429. Responses are limited to 5 MB. Keys expire after 90 days without use. Webhooks are retried five times. The free plan does not include webhooks.',
    ],
  }),
  ...toDocuments('leases', {
    linden: [
      'Lease: Lindenstrasse 8',
      'The flat in Lindenstrasse 8 has three rooms and 74 square metres. The rent is 980 euros per month plus 210 euros for heating and water. The deposit is three months’ rent. Keeping cats is allowed, dogs need the consent of the landlord. The notice period is three months. The tenant must not sublet the flat.',
    ],
    oak: [
      'Lease: Oak Street 21',
      'The flat in Oak Street 21 has two rooms and 58 square metres. The rent is 790 euros per month plus 160 euros for heating and water. The deposit is two months’ rent. Pets are not allowed. The notice period is one month. The tenant may sublet one room with the consent of the landlord.',
    ],
  }),
  ...toDocuments('trams', {
    redline: [
      'Red line',
      'The red line runs from the harbour to the university and has 18 stops. Trams run every six minutes during the day and every 20 minutes at night. The line was extended to the university in 2009. All stops have step-free access. The journey takes 32 minutes.',
    ],
    blueline: [
      'Blue line',
      'The blue line runs from the airport to the old town and has 23 stops. Trams run every ten minutes during the day and do not run at night. The line was extended to the airport in 2016. Three stops have no step-free access. The journey takes 41 minutes.',
    ],
    trams: [
      'Trams in Velmo',
      'The red line has 18 stops, the blue line has 23 and the green line has 14. The green line opened in 2019 and is the newest. A single ticket costs 2.80 euros, a day ticket 7.20 euros. Dogs travel free of charge. Bicycles are not carried between 7:00 and 9:00.',
    ],
  }),
  ...toDocuments('volcanoes', {
    tarkun: [
      'Mount Tarkun',
      'Mount Tarkun is a stratovolcano with a height of 2,871 metres. Its last eruption was in 1783. A lake fills the crater of Mount Tarkun. The summit can be reached without climbing equipment in about five hours. Geologists consider the volcano dormant, but not extinct.',
    ],
    selmar: [
      'Mount Selmar',
      'Mount Selmar is a shield volcano with a height of 1,652 metres. Its last eruption was in 2014, when ash closed the airport for three days. Hot springs are found on its southern slope. The crater must not be entered. A network of 22 sensors watches the volcano.',
    ],
  }),
  ...toDocuments('birds', {
    heron: [
      'Grey heron',
      'The grey heron stands up to 100 cm tall and weighs between 1 and 2 kg. It feeds mainly on fish, frogs and mice. Grey herons breed in colonies in tall trees. The female lays four or five eggs. Both parents feed the young for about 50 days. In flight, the heron draws in its neck.',
    ],
    stork: [
      'Black stork',
      'The black stork stands up to 102 cm tall and weighs about 3 kg. It feeds mainly on fish and insects. Black storks do not breed in colonies, but in quiet forests. The female lays three to five eggs. Black storks spend the winter in Africa. In flight, the stork stretches its neck.',
    ],
  }),
  ...toDocuments('clubs', {
    rovers: [
      'Halden Rovers',
      'Halden Rovers were founded in 1904 and play in green and white. The club won the national cup in 1956 and 1988. Its stadium holds 14,200 spectators. Rovers lost the final of 1999 to Marstal United by two goals to one. Since 2018 the coach has been Ingrid Solberg.',
    ],
    marstal: [
      'Marstal United',
      'Marstal United were founded in 1911 and play in red. The club won the national cup in 1999 and 2007. Its stadium holds 21,500 spectators. The women’s team was promoted to the first division in 2015. The club has never been relegated. Since 2020 the coach has been Tomas Brandt.',
    ],
  }),
  ...toDocuments('insurance', {
    insure21: [
      'Household insurance, terms of 2021',
      'The insurance covers damage by fire, storm and burst pipes. Damage by floods is not covered. Bicycles are insured up to 500 euros if they were locked. The excess is 150 euros per claim. Claims must be reported within seven days. The contract renews itself for one year.',
    ],
    insure23: [
      'Household insurance, terms of 2023',
      'The insurance covers damage by fire, storm, burst pipes and floods. Damage by earthquakes is not covered. Bicycles are insured up to 1,500 euros if they were locked. The excess is 250 euros per claim. Claims must be reported within 14 days. The contract can be cancelled at the end of any month.',
    ],
  }),
  ...toDocuments('heating', {
    heatpump: [
      'Heat pump Aeris 8: installation',
      'The Aeris 8 has a heating capacity of 8 kW and needs a supply of 400 volts. Keep a distance of at least 50 cm between the outdoor unit and the wall. The refrigerant is R290, which is flammable. Only certified technicians may open the cooling circuit. The noise level is 49 decibels at a distance of one metre. The filter has to be cleaned twice a year.',
    ],
    solar: [
      'Solar panels: questions and answers',
      'A roof that faces south gives the highest yield, but east and west roofs reach about 85 percent of it. A panel has an output of 430 watts and weighs 21 kg. Panels need no regular cleaning, because rain is usually enough. The inverter is replaced after about 15 years. Batteries are optional. A permit is not required for roofs of private houses.',
    ],
  }),
  ...toDocuments('science', {
    telescope: [
      'Corrin Telescope',
      'The Corrin Telescope has a mirror of 6.5 metres and stands at 2,400 metres in the Atacama desert. It saw first light on 18 January 2010. In 2017 it discovered the exoplanet Corrin-4b, which orbits its star in 11 days. The telescope is run by nine universities. Observations are possible on about 310 nights per year.',
    ],
    protocol: [
      'Protocol: extraction of DNA from leaves',
      'Grind 100 mg of leaf tissue in liquid nitrogen. Add 600 µl of buffer and incubate for 30 minutes at 65 °C. Centrifuge for 10 minutes at 12,000 g. Do not disturb the lower phase. Wash the pellet with 70 percent ethanol. Store the DNA at minus 20 °C.',
    ],
    water: [
      'Drinking water in Velmo: report 2023',
      'The drinking water of Velmo comes from 12 wells and one reservoir. The hardness is 14 degrees, which is medium. The nitrate level was 18 mg per litre, well below the limit of 50 mg. No pesticides were found in 2023. Lead pipes are still in use in 240 houses. The water is not chlorinated.',
    ],
  }),
  ...toDocuments('minutes', {
    minutesMay: [
      'Minutes of the garden club, 6 May 2024',
      'Sofia Brandl was elected chair with 31 votes. The club has 84 members. The spring market earned 1,260 euros. It was decided to buy a new shredder for 900 euros. The proposal to cut down the old pear tree was rejected. The next meeting is on 3 September.',
    ],
    minutesSep: [
      'Minutes of the garden club, 3 September 2024',
      'Sofia Brandl opened the meeting. The club has 91 members. The summer festival earned 2,045 euros. The shredder was bought for 870 euros. It was decided to plant six apple trees. The membership fee stays at 24 euros per year. The next meeting is on 2 December.',
    ],
  }),
  ...toDocuments('tables', {
    prices: [
      'Price list of the copy shop',
      'Product | Format | Price\nBlack and white copy | A4 | 0.08 euros\nColour copy | A4 | 0.35 euros\nColour copy | A3 | 0.70 euros\nPoster | A1 | 14 euros\nBinding | up to 200 pages | 6.50 euros',
    ],
    marathon: [
      'Velmo marathon 2023: results',
      'Rank | Name | Club | Time\n1 | Amira Haddad | Velmo Runners | 2:31:08\n2 | Lena Fuchs | TV Gellinge | 2:33:47\n3 | Joana Reis | Velmo Runners | 2:36:20\nThe race had 4,312 starters, and 3,987 of them finished. The weather was rainy.',
    ],
  }),
  ...toDocuments('history', {
    treaty: [
      'Treaty of Ostrava Bridge',
      'The Treaty of Ostrava Bridge was signed on 2 November 1721 by Count Rehnberg and Queen Isaura. It ended a war of nine years. The northern provinces remained with the kingdom, while the port of Selk was given to the count. The treaty did not mention the fishing rights. It was broken in 1734.',
    ],
    mill: [
      'The paper mill of Dornau',
      'The paper mill of Dornau was built in 1689 by Johann Petzold. A fire destroyed the mill in 1802. It was rebuilt two years later and got a steam engine in 1851. During the war it made no paper, but cartridges. The mill closed in 1974. Since 1998 the building has housed a school of music.',
    ],
  }),
  ...toDocuments('people', {
    composer: [
      'Elise Marchetti',
      'Elise Marchetti was born in Trieste in 1871 and died in Vienna in 1940. She wrote three operas and 62 songs. Her teacher was Anton Hruby. Her first opera, The Glass Garden, failed in 1899, but her second, Winter Letters, was a success in 1905. She never married. Most of her letters are kept in Graz.',
    ],
    engineer: [
      'Samuel Okafor',
      'Samuel Okafor was born in Lagos in 1923 and studied in Leeds. He invented a pump that works without electricity. His company employed 200 people in 1970. Okafor declined the national medal twice. He died in 2004. The museum in Enugu shows his first workshop.',
    ],
    interview: [
      'Interview with Ingrid Solberg',
      'I started coaching when I was 29. We train five times a week, and never on Sundays. My contract with Halden Rovers ends in 2026. I do not believe in long speeches before a match. The best player I ever coached was Karin Moe. We want to finish among the first four this season.',
    ],
  }),
  ...toDocuments('german', {
    hausordnung: [
      'Hausordnung',
      'Die Ruhezeit dauert von 22 Uhr bis 7 Uhr. Fahrräder dürfen nicht im Treppenhaus abgestellt werden. Die Waschküche kann täglich von 8 Uhr bis 20 Uhr benutzt werden. Grillen auf dem Balkon ist nur mit einem Elektrogrill erlaubt. Die Haustür muss ab 21 Uhr geschlossen sein. Haustiere müssen der Verwaltung gemeldet werden.',
    ],
    bahnhof: [
      'Bahnhof Lindau-Süd',
      'Der Bahnhof Lindau-Süd wurde 1854 eröffnet und 2019 umgebaut. Täglich halten hier 96 Züge. Der Bahnhof hat vier Gleise und einen Aufzug. Das Reisezentrum ist sonntags geschlossen. Schließfächer kosten 4 Euro pro Tag. Der Fernbus nach Zürich fährt seit 2021 nicht mehr.',
    ],
    imkerei: [
      'Imkerei Vogel',
      'Die Imkerei Vogel hat 120 Bienenvölker und erntet im Jahr etwa 3.600 Kilogramm Honig. Der Honig wird nicht erhitzt. Im Juli wird der Lindenhonig geschleudert. Ein Glas mit 500 Gramm kostet 7,50 Euro. Der Hofladen ist freitags von 14 bis 18 Uhr geöffnet. Gegen die Varroamilbe wird nur Ameisensäure eingesetzt.',
    ],
  }),
  ...toDocuments('romance', {
    musee: [
      'Musée de la Dentelle',
      'Le musée de la Dentelle a ouvert en 1983 dans une ancienne usine. La collection compte 2 400 pièces. Le musée est fermé le mardi. L’entrée coûte 6 euros et elle est gratuite le premier dimanche du mois. Les visites guidées durent une heure.',
    ],
    bodega: [
      'Bodega Almazán',
      'La bodega Almazán fue fundada en 1926 y tiene 38 hectáreas de viñedos. Produce 210.000 botellas al año. La vendimia empieza en septiembre y se hace a mano. La visita cuesta 15 euros e incluye tres vinos. La bodega no abre los domingos.',
    ],
  }),
  ...toDocuments('products', {
    drone: [
      'Drone Falk 2: technical data',
      'The Falk 2 weighs 249 g and flies for up to 34 minutes. Its camera records video at 4K with 60 frames per second. The maximum range is 10 km. The drone must not be flown in rain. The battery charges in 70 minutes. The Falk 2 has no obstacle sensors at the back.',
    ],
    tent: [
      'Tent Nordli 3: instructions',
      'The Nordli 3 sleeps three people and weighs 2.9 kg. The outer tent withstands a water column of 4,000 mm. Pitch the inner tent first. Never use a stove inside the tent. The poles are made of aluminium. Dry the tent completely before you store it.',
    ],
    readme: [
      'README of tidepool',
      'Tidepool is a library for reading tide tables. It needs Node 20 or newer. Install it with npm install tidepool. The function parseTable returns an array of entries. Times are in UTC. Tidepool does not support tables older than 1950. The licence is MIT.',
    ],
    cheese: [
      'Cheese from Alm Gerlos',
      'The cheese from Alm Gerlos is made of raw milk from 28 cows. It ripens for at least six months in a stone cellar. Each wheel weighs 7 kg. The rind should not be eaten. The alm is open from June to September. Last year 410 wheels were made.',
    ],
  }),
];
