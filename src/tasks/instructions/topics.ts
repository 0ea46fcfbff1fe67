/** @file What requests of the generator are about: topics, each with words that an answer about it would use. */

export interface InstructionTopic {
  name: string
  /** Lower case. */
  words: readonly string[]
  /** Beginnings of words. */
  stems: readonly string[]
}

/** Of each topic, between lines or slashes, name, words and, with a hyphen, beginnings of words. */
const TEXT = `
the sea: ocean wave water beach shore ship boat fish salt coast swim sail tide coral sand
a lost cat: collar street home found missing owner neighbo- reward whisker poster fur paw search
learning to cook: recipe kitchen meal taste ingredient oven knife salt vegetable soup pan bake dish
a trip to the mountains: hike trail peak snow view climb forest boots path summit valley backpack
a rainy day: rain cloud umbrella puddle wet drop window inside book blanket grey storm
my first bicycle: ride wheel pedal street helmet fall balance brake park learn handle red
coffee: bean cup brew roast morning drink aroma flavo- milk caffeine espresso taste / the moon: night star crater orbit earth light astronaut space lunar shine tide phase
an old library: book shelf shelves read quiet dust page librarian story stories wooden paper
a birthday party: cake candle friend gift balloon guest song invit- celebrat game music
a job interview: question employer company prepare resume experience skill answer hire position career
saving water: tap shower leak drop bath garden rain bill waste litre gallon reuse / gardening at home: plant soil seed flower water pot sun grow vegetable herb weed
winter: snow cold ice coat frost warm january december fire glove freez
a train station: platform ticket passenger track travel arriv- depart schedule conductor luggage clock
honesty: truth trust lie friend respect honest admit integrity believe sincere / a football match: goal team player ball score field fan win coach stadium kick
bees: honey hive flower pollen queen nectar insect buzz garden sting colony / the school bus: driver children stop seat student yellow road morning class window
city parks: tree bench grass walk playground pond green path bird families picnic / morning exercise: stretch run walk energy muscle body health breath routine sleep jog
a good novel: character story page plot read chapter author writ- hero imagin / space travel: rocket planet astronaut star orbit moon mars launch gravity galaxy ship
bread: flour dough yeast oven bake loaf crust butter slice wheat / a village market: fruit vegetable stall sell buy farmer fresh cheese price basket bread
dogs: puppy bark loyal walk tail fetch breed train pet friend paw / a thunderstorm: lightning rain thunder cloud wind flash storm sky dark loud
friendship: friend trust share laugh support kind together help listen bond / public transport: bus train ticket tram city traffic car passenger route commut-
a haunted house: ghost dark door creak scar shadow night stairs strange noise fear / music lessons: piano guitar teacher note practi- song learn melody instrument play
recycling: plastic paper glass bin waste reuse bottle trash environment sort / the desert: sand heat camel dry sun dune cactus oasis hot water
ice cream: cold sweet cone chocolate vanilla flavo- summer scoop melt dessert / a long flight: plane seat passenger airport pilot window sleep movie luggage land
house plants: leaf leaves pot water soil sun light green grow window / volcanoes: lava eruption ash erupt- mountain magma crater rock hot island
chess: board piece king queen move pawn player game win strateg- / the history of paper: china write book ink print fibre tree invent ancient page
sleep: bed night rest dream tired hour pillow wake health brain / spring cleaning: dust floor window sweep wash tidy room clean mop closet
lighthouses: light ship sea coast lamp tower keeper rock sailor shore / bridges: river cross span steel cable arch road build stone engineer
robots: machine human metal program computer task factory sensor arm help / a family dinner: table food mother father eat cook meal plate laugh together
campfires: wood flame fire night marshmallow smoke story stories warm tent friend / elephants: trunk africa tusk herd large ear ivory memory mammal calf
remote work: home office meeting computer team email desk video schedule commut- / a city marathon: run race finish mile crowd runner shoe water medal street
learning a language: word grammar speak practi- vocabulary listen teacher conversation study book / tea: leaf leaves cup water pot green black hot milk drink
a museum visit: art painting exhibit statue gallery history guide ticket picture artist
the rainforest: tree animal jungle species bird rain green leaf leaves plant monkey / savings accounts: money bank interest deposit rate account save balance budget
electric cars: battery charge motor drive range road engine emission station fuel / healthy breakfasts: egg fruit oat yogurt milk protein bread nut cereal energy
a broken computer: screen repair keyboard restart software file power data technician error / photography: camera light picture photo lens shot image frame subject color
apple trees: fruit orchard branch leaf leaves blossom harvest grow seed autumn pick / the night sky: star moon planet dark constellation telescope bright galaxy light
moving to a new town: box pack house neighbo- friend truck street rent school furniture / a magic lamp: genie wish rub gold cave smoke treasure desert king
fishing: river lake hook bait boat line rod catch water patient / a leaking roof: rain water bucket tile drip ceiling repair wet hole storm ladder
the first day at school: teacher class backpack friend nervous pencil desk children bell learn
saying sorry: apolog- mistake forgive hurt friend feel regret honest listen words / whales: ocean sea song blue mammal tail swim breath deep water calf
the invention of the wheel: cart roll axle wood pottery transport ancient wagon road move / keeping a diary: write page day thought feel memory memories pen private night
night shifts: sleep work tired coffee hospital nurse hour dark quiet schedule / public speaking: audience speech nervous practi- voice stage slide listen confiden- breath
a power cut: dark candle light electric- battery fridge neighbo- street torch lamp / knitting: wool yarn needle scarf pattern stitch sweater warm hand hobby
the water cycle: rain evaporat- cloud river ocean sea condens- vapo- sun snow / a stolen bicycle: lock police street report wheel thief chain insurance stole morning
vegetarian food: vegetable bean meat protein meal tofu recipe diet animal cook / glaciers: ice snow mountain melt valley slow climate move water rock
a new pair of shoes: walk comfort- leather sole store size blister run foot feet / owls: night bird feather eyes hunt mouse mice silent wing tree
being on time: late clock minute hour schedule wait alarm respect early plan / street music: guitar song crowd coin city sing passerby melody violin play
a visit to the dentist: tooth teeth pain clean chair appointment brush nervous drill smile / maps: road city country compass north draw travel navigat- scale world
school uniforms: student clothes wear shirt equal rule parent color dress cost / wind turbines: energy electric- blade power wind tower noise coast renewable farm
lost luggage: airport suitcase bag airline flight claim clothes desk passenger arriv- / a garden pond: frog fish water plant lily dragonfl- garden dig insect stone
time zones: hour clock travel flight earth country sun day jet east west / the price of rent: apartment city landlord money month tenant house income cost flat
learning to swim: pool water float breath arm teacher kick goggles deep practi- / old photographs: memory memories album family picture black white smile camera faded
mushrooms: forest soil cap edible poison- spore autumn pick soup tree / a wedding speech: bride groom love couple toast laugh guest family story happy
board games: dice card player rule win table family turn fun strateg- / snowmen: snow carrot nose winter scarf cold melt children hat roll
bicycles in the city: lane traffic helmet road car safe ride street park commut- / working in a team: colleague share idea goal help trust communicat- project together task
how soap works: water dirt oil grease hand clean molecule wash germ skin / museums for children: play touch learn exhibit fun dinosaur family visit toy school
dreams: sleep night brain nightmare memory story remember mind wake imagin- / a flat tyre: wheel car spare jack road pump nail change air bike
penguins: ice antarctica swim egg cold fish colony bird waddle feather / advertising: product brand buy customer sell television poster slogan market company
the human heart: blood pump beat body muscle vein oxygen chest health artery / saving money on food: budget cook shop list leftover price meal buy plan vegetable
sharing a flat: roommate kitchen rent clean rule noise bathroom friend bill together / a lost key: door lock pocket locksmith neighbo- spare house search found open
comets: tail ice sun orbit dust space sky bright telescope star / homework: school student teacher learn time evening study child parent exercise
kites: wind string sky fly tail colour color beach paper children / second-hand clothes: shop wear cheap shirt jacket used reuse fashion waste buy
carnivals: costume mask music parade street dance colour color crowd drum / spiders: web leg silk insect fly eight catch bite corner fear
sunburn: skin sun cream red hot shade hat summer protect beach / the printing press: book gutenberg letter page ink paper metal spread read print
a quiet weekend: rest book tea sleep walk sofa read relax phone nothing / autumn leaves: red tree fall yellow orange wind ground colour color rake
the local bakery: bread cake pastry oven fresh smell morning flour customer sweet
`

/** @see Topic */
export const INSTRUCTION_TOPICS: readonly InstructionTopic[] = TEXT.trim()
  .split(/\n| \/ /)
  .map(line => {
    const [name, list] = line.split(': ')
    const words = list.split(' ')
    const isStem = (word: string) => word.endsWith('-')
    return {
      name,
      words: words.filter(word => !isStem(word)),
      stems: words.filter(isStem).map(stem => stem.slice(0, -1)),
    }
  })
